package journal

import (
	"crypto/sha256"
	"encoding/hex"
)

// Definition is what executions run, kept with the first execution that uses it so that nothing else is needed to go
// on.
type Definition struct {
	// ID identifies the definition by its content; NewDefinition makes it.
	ID string
	// MachineName and RoleARN are the state machine's at the time, Text is its definition.
	MachineName, RoleARN string
	Express              bool
	Text                 string
}

// NewDefinition returns a definition with its ID.
func NewDefinition(machineName, roleARN, text string, express bool) *Definition {
	d := &Definition{MachineName: machineName, RoleARN: roleARN, Text: text, Express: express}
	sum := sha256.Sum256(d.AppendBinary(nil))
	d.ID = hex.EncodeToString(sum[:16])
	return d
}

// AppendBinary appends the stored form of the definition, without its ID. It is read back by DecodeDefinition.
func (d *Definition) AppendBinary(dst []byte) []byte {
	w := writer{dst}
	w.text(d.MachineName)
	w.text(d.RoleARN)
	w.text(d.Text)
	w.flags(d.Express)
	return w.dst
}

// DecodeDefinition reads a definition that AppendBinary wrote.
func DecodeDefinition(id string, src []byte) (*Definition, error) {
	r := reader{src: src}
	d := &Definition{ID: id, MachineName: r.text(), RoleARN: r.text(), Text: r.text()}
	r.flags(&d.Express)
	return d, r.err("definition")
}
