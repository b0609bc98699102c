// What the clients in JavaScript answer questions with, as in values.go.
const formats = { email: "ada@example.com", uri: "https://example.com/", date: "2028-02-29", "date-time": "2028-02-29T12:00:00Z" }

/** Whether the probe takes a question with this message back: nobody answers it. */
export const takenBack = message => message.startsWith("Do nothing")

/** Returns the action that a question's message asks for. */
export function action(message) {
  if (message.startsWith("Close this question")) return "cancel"
  return message.startsWith("Decline") || message.endsWith("and decline.") ? "decline" : "accept"
}

/** Returns a value that a field takes. */
export function value(field) {
  const choices = of => of.enum ?? (of.oneOf ?? of.anyOf)?.map(one => one.const)
  if (field.type === "boolean") return true
  if (field.type === "integer") return 7
  if (field.type === "number") return 0.5
  if (field.type === "array") return choices(field.items).slice(0, 2)
  return choices(field)?.[0] ?? formats[field.format] ?? (field.pattern ? "AB-1234" : "text")
}
