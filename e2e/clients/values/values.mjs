// Valid values for the fields of the probes, as in values.go, for the clients in JavaScript.
const formats = { email: "ada@example.com", uri: "https://example.com/", date: "2028-02-29", "date-time": "2028-02-29T12:00:00Z" }

/** Returns a value that a field takes. */
export function value(field) {
  const choices = of => of.enum ?? (of.oneOf ?? of.anyOf)?.map(one => one.const)
  if (field.type === "boolean") return true
  if (field.type === "integer") return 7
  if (field.type === "number") return 0.5
  if (field.type === "array") return choices(field.items).slice(0, 2)
  return choices(field)?.[0] ?? formats[field.format] ?? (field.pattern ? "AB-1234" : "text")
}
