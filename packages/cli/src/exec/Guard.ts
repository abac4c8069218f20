/**
 * A small process beside the worker that outlives it by a moment: when the worker is gone without having ended its
 * programs (`kill -9`, out of memory), the guard ends them. Otherwise they would go on beside those of the worker that
 * gets their jobs next.
 */
import { type ChildProcess, spawn } from "node:child_process"

// Reads `+ GROUP` and `- GROUP`. Its input ends with the worker; what is on the list then gets TERM, and KILL a
// second later: a lease had two thirds of its time left, as the worker renewed it in time.
const script = `
groups=
while read -r change group; do
  if [ "$change" = + ]; then groups="$groups $group"; continue; fi
  left=
  for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
  groups=$left
done
[ -n "$groups" ] || exit 0
for each in $groups; do kill -s TERM -- "-$each"; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each"; done
`

let guard: ChildProcess | undefined

const start = (): ChildProcess => {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] })
  // Without a guard, programs still end with a worker that ends in good order.
  child.on("error", () => {})
  child.stdin?.on("error", () => {})
  // It must not keep the worker from ending.
  child.unref()
  if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref()
  return child
}

/** Has the group ended when this process is gone. */
export const watch = (group: number): void => {
  guard ??= start()
  guard.stdin?.write(`+ ${group}\n`)
}

/** The group has ended. */
export const unwatch = (group: number): void => {
  guard?.stdin?.write(`- ${group}\n`)
}
