package elicit

import "elicitation-inspector/bridge/rawjson"

// Short names for what this package reads JSON with.

type jsonType = rawjson.Kind

const (
	typeObject  = rawjson.Object
	typeArray   = rawjson.Array
	typeString  = rawjson.String
	typeNumber  = rawjson.Number
	typeBoolean = rawjson.Boolean
	typeNull    = rawjson.Null
	typeNone    = rawjson.None
)

var (
	valid         = rawjson.Check
	typeOf        = rawjson.KindOf
	trim          = rawjson.Trim
	members       = rawjson.Members
	elements      = rawjson.Elements
	member        = rawjson.Member
	unquote       = rawjson.Unquote
	appendQuoted  = rawjson.AppendQuoted[string]
	appendCompact = rawjson.AppendCompact
	pointer       = rawjson.PointerTo
	at            = rawjson.At
)
