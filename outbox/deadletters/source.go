package deadletters

import "context"

// Source is a kind of letters that keeps no record of its own: it finds what could not be delivered where the system
// left it, and delivers it again. A [SourceRoom] makes a room of it.
type Source interface {
	Kind() Kind
	// Owns tells by its form whether an ID is that of a letter of this source.
	Owns(id string) bool
	// Each visits the letters as they were found, all of them Dead, in any order.
	Each(ctx context.Context, visit func(Letter) error) error
	// Find finds one letter, or ErrNotFound.
	Find(ctx context.Context, id string) (Letter, error)
	// CheckEdit refuses a payload that could not be delivered in the place of the letter's, with a BadActError.
	CheckEdit(l *Letter, payload []byte) error
	// Deliver hands the items of a delivery over, but for those that are Gone, and returns what went wrong with each: a
	// BadActError or a NotDeadError where the item certainly was not handed over, or any other error where that is not
	// known. It may be called again for the same delivery, and whoever receives an item twice then knows the repeat.
	Deliver(ctx context.Context, d *Delivery) []error
	// Became tells what became of an item of a delivery: the letter Underway, Delivered, or Dead of what it died of
	// this time.
	Became(ctx context.Context, d *Delivery, i int) (Letter, error)
}

// Remover is a Source that takes discarded letters out of where it found them, so that nobody counts them any more.
type Remover interface {
	// Remove removes a letter; one that is not there is no error.
	Remove(ctx context.Context, id string) error
}

// Delivery is a redrive of several letters at once.
type Delivery struct {
	ID     string `json:"id"` // 26 letters and digits
	At     int64  `json:"at"` // when it was asked for, in microseconds since 1970
	Who    string `json:"who"`
	Reason string `json:"reason,omitempty"`
	Items  []Item `json:"items"`
}

// Item is a letter in a delivery.
type Item struct {
	ID      string `json:"id"`
	Payload []byte `json:"payload"`          // what is sent
	Edited  bool   `json:"edited,omitempty"` // Payload is not what the letter was found with
	Found   Found  `json:"found"`
	Version string `json:"version,omitempty"` // of the letter's entry when the delivery was planned
	Gone    bool   `json:"-"`                 // it has left the delivery since
}

// Found is a letter as its source found it, in the form that is kept.
type Found Letter
