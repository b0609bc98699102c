package link

// What package lint judges URLs with, until both judge once.

const MaxQuery = maxQuery

var (
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
