/** What happened, in words for whoever reads a log. */
import type { Decision } from "./Decision.ts"
import type { Target } from "./Kinds.ts"

const isMessage = (target: Target): boolean => target === "to-server" || target === "to-client"

const lost = (silent: boolean): string => (silent ? "without a sign" : "and the connection with it")

const where = (target: Target, side: "request" | "answer"): string => {
  if (target === "upgrade") return "the answer"
  return isMessage(target) ? "the message" : `the ${side}`
}

const repeatWords = (target: Target, apart: boolean): string => {
  if (target === "request") return "to the next server"
  return target === "to-server" && apart ? "over a connection of its own" : "on the same connection"
}

/** How the decision hits a target. */
export const describe = (target: Target, decision: Decision): string => {
  switch (decision.kind) {
    case "drop-request":
      return `not delivered, lost ${lost(decision.silent)}`
    case "drop-answer":
      return target === "to-client"
        ? `lost ${lost(decision.silent)}`
        : `delivered; its answer is lost ${lost(decision.silent)}`
    case "repeat": {
      const answers = target === "to-client" ? "" : `; the client gets the ${decision.answer} answer`
      return `delivered twice, ${repeatWords(target, decision.apart)}${target === "request" ? answers : ""}`
    }
    case "late-repeat":
      return `delivered again ${decision.ms} ms later, ${repeatWords(target, decision.apart)}`
    case "delay":
      return `${where(target, decision.side)} is held for ${decision.ms} ms`
    case "reorder":
      return `held until one of another connection has overtaken it, at most ${decision.ms} ms`
    case "cut":
      return `the connection ends when ${Math.floor(decision.share * 100)} % of ${where(target, decision.side)} are through`
    case "half-open":
      return `the connection is silent for ${decision.ms} ms, ${decision.side === "request" ? "before" : "after"} it is delivered`
    case "balancer":
      return `answered with ${decision.status}, ${decision.delivered ? "delivered" : "not delivered"}`
    case "refuse":
      return `reset; no connection is accepted for ${decision.ms} ms`
  }
}
