package startevents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"stepback/aws/objects"
)

// Bucket implements Inbox with one object for each event, under a prefix of a bucket.
type Bucket struct {
	Store objects.Store
	Name  string
}

const folder = "undelivered-events/"

// Keep stores an event for which no execution could be started. The same event is always stored under the same key.
func (b *Bucket) Keep(ctx context.Context, u Undelivered) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return b.Store.Put(ctx, objects.Put{Bucket: b.Name, Key: folder + u.Event.ExecutionName() + ".json",
		Body: bytes.NewReader(text), Size: int64(len(text)), ContentType: "application/json"})
}

// Each implements Inbox.
func (b *Bucket) Each(ctx context.Context, visit func(Undelivered) error) error {
	for list := (objects.List{Bucket: b.Name, Prefix: folder}); ; {
		page, err := b.Store.List(ctx, list)
		if err != nil {
			return err
		}
		for _, o := range page.Objects {
			u := Undelivered{Place: o.Key}
			if err := b.read(ctx, &u); err != nil {
				return fmt.Errorf("s3://%s/%s: %w", b.Name, u.Place, err)
			}
			if err := visit(u); err != nil {
				return err
			}
		}
		if list.Token = page.Next; list.Token == "" {
			return nil
		}
	}
}

func (b *Bucket) read(ctx context.Context, u *Undelivered) error {
	out, err := b.Store.Get(ctx, objects.Get{Bucket: b.Name, Key: u.Place})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	return json.NewDecoder(out.Body).Decode(u)
}

// Remove implements Inbox.
func (b *Bucket) Remove(ctx context.Context, u Undelivered) error {
	return b.Store.Delete(ctx, b.Name, u.Place)
}
