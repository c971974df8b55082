package deadletters

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

// entry is the record of a letter that has been acted on. It is a single document, so that an act and its record are
// written together.
type entry struct {
	ID     string `json:"id"`
	State  State  `json:"state"` // Dead, Underway or Discarded
	Found  Found  `json:"found"` // the letter at its first act
	Edited []byte `json:"edited,omitempty"`
	// Deliveries are the IDs of the deliveries that included the letter, oldest first.
	Deliveries []string `json:"deliveries,omitempty"`
	Acts       []Act    `json:"acts"` // oldest first

	version string
	open    bool // the last delivery has not been decided, and its Carrier has ended
}

const (
	letterDocuments   = "letters/"
	deliveryDocuments = "deliveries/"
)

func letterDocument(id string) string { return letterDocuments + url.PathEscape(id) + ".json" }

// entry reads the entry of a letter. If there is none, the entry's version is empty.
func (r *SourceStore) entry(ctx context.Context, id string) (e entry, err error) {
	text, version, err := r.Documents.Get(ctx, letterDocument(id))
	if err != nil || version == "" {
		return entry{ID: id, State: Dead}, err
	}
	return readEntry(letterDocument(id), text, version)
}

func readEntry(name string, text []byte, version string) (e entry, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("the record %s is damaged: %w", name, err)
	}
	e.version = version
	return e, nil
}

func (r *SourceStore) save(ctx context.Context, e *entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return r.Documents.Put(ctx, letterDocument(e.ID), text, e.version)
}

// entries reads the entries of all letters of the source.
func (r *SourceStore) entries(ctx context.Context) (map[string]entry, error) {
	all := map[string]entry{}
	return all, r.Documents.Each(ctx, letterDocuments, func(name string, text []byte, version string) error {
		e, err := readEntry(name, text, version)
		if err == nil && r.Source.Owns(e.ID) {
			all[e.ID] = e
		}
		return err
	})
}

// last returns the latest delivery that the letter was part of, or "" if there was none.
func (e *entry) last() string {
	if len(e.Deliveries) == 0 {
		return ""
	}
	return e.Deliveries[len(e.Deliveries)-1]
}

// imported reports whether a delivery with a Carrier has had the letter.
func (e *entry) imported() bool {
	return slices.ContainsFunc(e.Acts, func(a Act) bool { return a.Verb == VerbImport })
}

// partOf reports whether the letter was claimed for a delivery.
func (e *entry) partOf(delivery string) bool { return slices.Contains(e.Deliveries, delivery) }

// A delivery has up to three documents. planned lists the letters to redrive, decided lists the letters that are
// part of the delivery, and complete records that they have been handed over.
const (
	planned  = "planned"
	decided  = "decided"
	complete = "complete"
)

func deliveryDocument(id, stage string) string { return deliveryDocuments + id + "/" + stage + ".json" }

// delivery reads the document of a delivery's stage; ok is false if it has not been written.
func (r *SourceStore) delivery(ctx context.Context, id, stage string) (d Delivery, ok bool, err error) {
	text, version, err := r.Documents.Get(ctx, deliveryDocument(id, stage))
	if err != nil || version == "" {
		return d, false, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, false, fmt.Errorf("the record %s is damaged: %w", deliveryDocument(id, stage), err)
	}
	return d, true, nil
}

// keep writes the document of a delivery's stage once. If it has already been written, keep returns the existing
// document.
func (r *SourceStore) keep(ctx context.Context, d Delivery, stage string) (Delivery, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	switch err := r.Documents.Put(ctx, deliveryDocument(d.ID, stage), text, ""); err {
	case nil:
		return d, nil
	case ErrConflict: //nolint:errorlint // the interface asks for this very value
		kept, _, err := r.delivery(ctx, d.ID, stage)
		return kept, err
	default:
		return d, err
	}
}
