/** Which addresses and names mean this machine. */
import { BlockList, isIP } from "node:net"

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** Whether an IP address is this machine's own, also when it is IPv4 written as IPv6. */
export const isLoopbackAddress = (address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? "ipv6" : "ipv4")
}

/** Whether a host, as a name or an address, can only be this machine. */
export const isLoopbackHost = (host: string): boolean =>
  host.toLowerCase() === "localhost" || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"))
