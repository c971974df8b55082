package retries

import (
	"cmp"

	"stepback/adaptive/worth"
)

// architecture holds the flag --arch of all verbs that price functions.
type architecture struct {
	Arch string `enum:",x86_64,arm64" default:"" placeholder:"x86_64|arm64" help:"Architecture of the functions, which sets the price of their time. Default x86_64, Lambda's own; for the CSV import arm64, as it is deployed."`
}

// of returns the flag's architecture, or otherwise if the flag is not set.
func (a architecture) of(otherwise worth.Architecture) worth.Architecture {
	return cmp.Or(worth.Architecture(a.Arch), otherwise)
}
