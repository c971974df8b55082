package deadletters

import (
	"context"
	"errors"
)

// Documents are where a [SourceRoom] keeps what people did: small texts under names, each replaced only by who has
// seen what it replaces. The name of a document has at most 900 bytes of letters, digits and -_./%:~.
type Documents interface {
	// Get returns a document and its version. Where there is none, the version is empty and the error nil.
	Get(ctx context.Context, name string) (text []byte, version string, err error)
	// Put writes a document if its version is still the given one, or, where that is empty, if there is none;
	// otherwise the error is ErrConflict and nothing was written.
	Put(ctx context.Context, name string, text []byte, version string) error
	// Each visits the documents whose names begin with a prefix, in the order of their names.
	Each(ctx context.Context, prefix string, visit func(name string, text []byte, version string) error) error
}

// ErrConflict says that another process was faster.
var ErrConflict = errors.New("somebody else has changed the document meanwhile")
