// The recorder as a plugin: one line per hook call and bus event, in the form that
// package record reads. It answers nothing and changes nothing.
import { appendFileSync } from "node:fs"

const FILE = process.env.LIDGUARD_LAB_RECORD
const HOOKS = ["chat.message", "tool.execute.before", "tool.execute.after"]

function log(event, value) {
  appendFileSync(FILE, JSON.stringify({ at: new Date().toISOString(), event, dir: process.cwd(), names: [], raw: JSON.stringify(value ?? {}) }) + "\n")
}

export const Recorder = async () => {
  const hooks = {}
  for (const name of HOOKS) hooks[name] = async (input, output) => log(name, { input, output })
  hooks.dispose = async () => log("dispose")
  hooks.event = async ({ event }) => {
    if (!/^(message|plugin|catalog|reference|integration|server)\./.test(event.type)) log(event.type, event.properties)
  }
  return hooks
}
