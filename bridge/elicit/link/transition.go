package link

import "elicitation-inspector/bridge/elicit"

// What package lint judges URLs with, until both judge once.

const MaxQuery = maxQuery

var (
	checkURI       = elicit.CheckURI
	Unescape       = unescape
	AppendName     = appendName
	Named          = named
	PlainName      = plainName
	IsSecretName   = isSecretName
	IsPersonalName = isPersonalName
	IsPersonal     = isPersonal
	IsCardNumber   = isCardNumber
	IsIBAN         = isIBAN
	Shapes         = shapes
	IsLoopback     = isLoopback
	IsASCII        = isASCII
)
