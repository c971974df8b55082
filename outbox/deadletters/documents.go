package deadletters

import (
	"context"
	"errors"
)

// Documents is the store in which a [SourceStore] records acts. It holds small named texts. A writer can replace a
// text only if it has seen the current version. A document's name has at most 900 bytes and consists of letters,
// digits and -_./%:~.
type Documents interface {
	// Get returns a document and its version. If the document does not exist, the version is empty and the error nil.
	Get(ctx context.Context, name string) (text []byte, version string, err error)
	// Put writes a document if its current version is version; an empty version means that the document must not
	// exist. Otherwise it writes nothing and returns ErrConflict.
	Put(ctx context.Context, name string, text []byte, version string) error
	// Each calls visit for the documents whose names start with a prefix, in the order of their names.
	Each(ctx context.Context, prefix string, visit func(name string, text []byte, version string) error) error
}

// ErrConflict is returned if another process has changed the document.
var ErrConflict = errors.New("another program has changed the document in the meantime")
