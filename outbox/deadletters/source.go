package deadletters

import "context"

// Source finds and delivers letters of a kind that keeps no record of its own. It finds undelivered things where
// the system left them, and delivers them again. A [SourceStore] makes it a Store.
type Source interface {
	Kind() Kind
	// Owns reports whether an ID has the form of this source's IDs.
	Owns(id string) bool
	// Each calls visit for the letters as found, all of them Dead, in any order.
	Each(ctx context.Context, visit func(Letter) error) error
	// Find returns one letter, or ErrNotFound.
	Find(ctx context.Context, id string) (Letter, error)
	// CheckEdit returns a BadActError if the payload could not be delivered instead of the letter's own.
	CheckEdit(l *Letter, payload []byte) error
	// Deliver hands over the items of a delivery, except those that are Gone, and returns an error for each. A
	// BadActError or a NotDeadError means that the item was certainly not handed over. With any other error, that
	// is unknown. Deliver may be called again for the same delivery; the receiver of an item must recognise the
	// repeat.
	Deliver(ctx context.Context, d *Delivery) []error
	// Became returns the letter of a delivery's item in its current state: Underway, Delivered, or Dead with its
	// new reason. In a delivery with a Carrier, Edited is the payload that the carrier had, if it differs from the
	// letter's own.
	Became(ctx context.Context, d *Delivery, i int) (Letter, error)
}

// Remover is a Source that removes discarded letters from where it found them, so that they are no longer counted.
type Remover interface {
	// Remove removes a letter. It is not an error if the letter does not exist.
	Remove(ctx context.Context, id string) error
}

// Resumer is a Source whose delivery can end without deciding each item, so that these letters are Dead and Undecided.
type Resumer interface {
	// Resume continues a delivery that ended in this way, with the same payloads. Items that it has delivered before
	// are not delivered again. Resuming a delivery that is still under way, or has decided each item, has no effect.
	Resume(ctx context.Context, d *Delivery) error
}

// Delivery is a redrive of several letters together.
type Delivery struct {
	ID     string `json:"id"` // at most 64 letters, digits and hyphens
	At     int64  `json:"at"` // time of the request, in microseconds since 1970
	Who    string `json:"who"`
	Reason string `json:"reason,omitempty"`
	Items  []Item `json:"items"`
	// Carrier describes, in the source's own terms, what delivers the items of a delivery that [SourceStore.Enlist]
	// decided. It is empty if Deliver hands the items over.
	Carrier string `json:"carrier,omitempty"`
	// LeftOut has the letters that Enlist did not make part of the delivery, and why.
	LeftOut map[string]string `json:"leftOut,omitempty"`
}

// Item is a letter in a delivery.
type Item struct {
	ID      string `json:"id"`
	Payload []byte `json:"payload,omitempty"` // the payload to send; unset if a Carrier has it
	Edited  bool   `json:"edited,omitempty"`  // Payload differs from the one that the letter was found with
	Found   Found  `json:"found,omitzero"`    // unset if a Carrier has the payload
	Version string `json:"version,omitempty"` // of the letter's entry when the delivery was planned
	Gone    bool   `json:"-"`                 // it has left the delivery in the meantime
}

// Found is a letter as its source found it, in the form in which it is stored.
type Found Letter
