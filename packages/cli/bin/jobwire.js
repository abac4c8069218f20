#!/usr/bin/env node
/*
 * The published command. It is written in the syntax of old versions of Node, so that those can say what is wrong.
 * Inside the repository the sources are run, so that no old build hides an edit; elsewhere the compiled code.
 */
"use strict"

var needed = [22, 19]
var found = process.versions.node.split(".").map(Number)

if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  console.error(
    "jobwire: Node " +
      process.versions.node +
      " is too old: " +
      needed.join(".") +
      " or newer is needed.\n" +
      "  Get it from https://nodejs.org or with your version manager (nvm install 24, fnm install 24),\n" +
      "  or let npm bring it: npx --package=node@24 --package=jobwire jobwire --help"
  )
  process.exit(1)
}

var fs = require("fs")
var path = require("path")
var url = require("url")

var compiled = path.join(__dirname, "..", "dist", "bin.js")
var source = path.join(__dirname, "..", "src", "bin.ts")

function resolveToSources() {
  require("module").registerHooks({
    resolve: function (specifier, context, next) {
      return next(specifier, Object.assign({}, context, { conditions: context.conditions.concat("jobwire:source") }))
    }
  })
}

// The published package does not hold this file.
function isInRepository() {
  return fs.existsSync(path.join(__dirname, "..", "tsconfig.json"))
}

// Later starts take less than half the time.
require("module").enableCompileCache()

var entry = compiled
if (isInRepository()) {
  resolveToSources()
  entry = source
}
import(url.pathToFileURL(entry).href)
