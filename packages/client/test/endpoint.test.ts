/** The URLs and the credentials that are made from what an application gives. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { HttpClientRequest } from "effect/http"
import { parseEndpoint } from "../src/Endpoint.ts"
import { authorized, parseToken, subprotocols } from "../src/Token.ts"

const endpoint = (url: string | URL, store?: string) => Result.getOrThrow(parseEndpoint(url, store))
const refusal = (url: string) => Result.getOrThrow(Result.flip(parseEndpoint(url, undefined)))

describe("a URL", () => {
  it("may have any of four schemes, a port and a base, with or without slashes at its end", () => {
    for (const [given, http, websocket] of [
      ["http://h:1", "http://h:1/v1/rpc", "ws://h:1/v1/rpc"],
      ["https://h/", "https://h/v1/rpc", "wss://h/v1/rpc"],
      ["ws://h:80/base", "http://h/base/v1/rpc", "ws://h/base/v1/rpc"],
      ["wss://h:1/a/b//", "https://h:1/a/b/v1/rpc", "wss://h:1/a/b/v1/rpc"],
      ["http://[::1]:7077", "http://[::1]:7077/v1/rpc", "ws://[::1]:7077/v1/rpc"]
    ] as const) {
      assert.deepStrictEqual(endpoint(given), { http, websocket, shown: http })
    }
  })

  it("may be a URL object", () => {
    assert.strictEqual(endpoint(new URL("https://h:2/x")).http, "https://h:2/x/v1/rpc")
  })

  it("gets the store as a query, which messages leave out", () => {
    assert.deepStrictEqual(endpoint("http://h", "a b&c"), {
      http: "http://h/v1/rpc?store=a%20b%26c",
      websocket: "ws://h/v1/rpc?store=a%20b%26c",
      shown: "http://h/v1/rpc"
    })
  })

  it("is refused by an error that says what it must be", () => {
    for (const url of ["", "localhost:7077", "ftp://h", "//h", "http://"]) {
      const error = refusal(url)
      assert.deepStrictEqual(error.reason, { _tag: "InvalidArgument", field: "url" })
      assert.include(error.message, `url must be a URL such as https://`)
      assert.include(error.message, JSON.stringify(url))
    }
    assert.include(refusal("http://h?store=x").message, "must not hold a query: name the store as `store`")
    assert.include(refusal("http://h#x").message, "must not hold a fragment")
  })

  it("with credentials is refused by an error that does not repeat them", () => {
    for (const url of ["http://me:secret@h", "http://secret@h", "secret@h", "h?token=secret", "ftp://me:secret@h"]) {
      assert.notInclude(refusal(url).message, "secret")
    }
  })
})

describe("a token", () => {
  const token = Result.getOrThrow(parseToken("a.b~c+/="))

  it("travels over HTTP as a header", () => {
    const request = authorized(HttpClientRequest.post("http://h"), token)
    assert.strictEqual(request.headers.authorization, "Bearer a.b~c+/=")
  })

  it("travels over WebSocket as a subprotocol behind the one that the server answers with", () => {
    const [first, second = "", ...rest] = subprotocols(token)
    assert.strictEqual(first, "jobwire.v1")
    assert.deepStrictEqual(rest, [])
    assert.match(second, /^bearer\.[A-Za-z0-9_-]+$/)
    assert.strictEqual(Buffer.from(second.slice(7), "base64url").toString(), "a.b~c+/=")
  })

  it("may be left out", () => {
    assert.deepStrictEqual(subprotocols(undefined), ["jobwire.v1"])
    assert.notProperty(authorized(HttpClientRequest.post("http://h"), undefined).headers, "authorization")
  })

  it("that is redacted stays what it is", () => {
    const redacted = Redacted.make("x")
    assert.strictEqual(Result.getOrThrow(parseToken(redacted)), redacted)
  })

  it("that no header can carry is refused without being repeated", () => {
    for (const bad of ["", "to ken", "tok\nen", "tökén", " token"]) {
      const error = Result.getOrThrow(Result.flip(parseToken(bad)))
      assert.deepStrictEqual(error.reason, { _tag: "InvalidArgument", field: "token" })
      if (bad !== "") assert.notInclude(error.message, bad)
    }
  })
})
