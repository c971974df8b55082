package journal

import (
	"crypto/sha256"
	"encoding/hex"

	"stepback/engine/internal/wire"
)

// Definition is the definition that executions run. It is stored with the first execution that uses it, so that
// nothing else is needed to resume.
type Definition struct {
	// ID identifies the definition by its content; NewDefinition computes it.
	ID string
	// MachineName and RoleARN are the name and role that the state machine had with this definition. Text is the
	// definition's text.
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

// AppendBinary appends the stored form of the definition, without its ID. DecodeDefinition reads it.
func (d *Definition) AppendBinary(dst []byte) []byte {
	w := wire.Writer{Bytes: dst}
	w.Text(d.MachineName)
	w.Text(d.RoleARN)
	w.Text(d.Text)
	w.Flags(d.Express)
	return w.Bytes
}

// DecodeDefinition decodes a definition written by AppendBinary.
func DecodeDefinition(id string, src []byte) (*Definition, error) {
	r := wire.NewReader(src)
	d := &Definition{ID: id, MachineName: r.Text(), RoleARN: r.Text(), Text: r.Text()}
	r.Flags(&d.Express)
	return d, damage(&r, "definition")
}
