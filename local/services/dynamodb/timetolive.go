package dynamodb

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

type timeToLive struct {
	Enabled   bool
	Attribute string `json:"AttributeName"`
}

type updateTimeToLive struct {
	tableRequest
	Specification timeToLive `json:"TimeToLiveSpecification"`
}

type updatedTimeToLive struct {
	Specification timeToLive `json:"TimeToLiveSpecification"`
}

func (s *Service) updateTimeToLive(_ context.Context, scope aws.Scope, in *updateTimeToLive) (*updatedTimeToLive,
	error) {
	asked := in.Specification
	_, err := s.alter(scope, in.Name, func(now int64, b *documents.Batch, t *table) (*table, error) {
		switch {
		case asked.Enabled && t.TimeToLive == asked.Attribute:
			return nil, invalid("TimeToLive is already enabled")
		case asked.Enabled && t.TimeToLive != "":
			return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is " + t.TimeToLive)
		case !asked.Enabled && t.TimeToLive == "":
			return nil, invalid("TimeToLive is already disabled")
		case !asked.Enabled && t.TimeToLive != asked.Attribute:
			return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is " + t.TimeToLive)
		case !asked.Enabled:
			b.UnsetAll(key(expiryKey, t.number))
			return t.changed(func(r *record) { r.TimeToLive = "" }), nil
		}
		changed := t.changed(func(r *record) { r.TimeToLive = asked.Attribute })
		prefix := key(itemKey, t.number)
		return changed, s.store.Each(prefix, func(k, value []byte) error {
			i, err := item.Decode(value)
			if err == nil {
				s.expire(now, b, changed, i, k[len(prefix):])
			}
			return err
		})
	})
	return &updatedTimeToLive{asked}, err
}

type describedTimeToLive struct {
	Description timeToLiveDescription `json:"TimeToLiveDescription"`
}

type timeToLiveDescription struct {
	Status    string `json:"TimeToLiveStatus"`
	Attribute string `json:"AttributeName,omitempty"`
}

func (s *Service) describeTimeToLive(_ context.Context, scope aws.Scope, in *tableRequest) (*describedTimeToLive, error) {
	t, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	out := &describedTimeToLive{timeToLiveDescription{"DISABLED", t.TimeToLive}}
	if t.TimeToLive != "" {
		out.Description.Status = "ENABLED"
	}
	return out, nil
}

// expiry returns the second at which an item expires. ok is false if the attribute is not a number, or is a time
// more than five years ago.
func (t *table) expiry(now int64, i item.Item) (second uint64, ok bool) {
	const oldest = 5 * 365 * 24 * time.Hour
	v, there := i[t.TimeToLive]
	if !there || t.TimeToLive == "" || v.Kind != item.KindNumber {
		return 0, false
	}
	whole, _, _ := strings.Cut(v.Text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 || n < (now-oldest.Milliseconds())/1000 {
		return 0, false
	}
	return uint64(n), true
}

// expire stores the time at which an item expires. The caller holds mu.
func (s *Service) expire(now int64, b *documents.Batch, t *table, i item.Item, place []byte) {
	second, ok := t.expiry(now, i)
	if !ok {
		return
	}
	b.Set(append(key(expiryKey, t.number, second), place...), nil)
	const latest = 1 << 40 // seconds; in milliseconds they do not overflow
	if second < latest {
		s.sweepBy(int64(second) * 1000)
	}
}

// applyExpiry stores the expiry of the item after a mutation, and removes the expiry of the item before it. The
// caller holds mu.
func (s *Service) applyExpiry(now int64, b *documents.Batch, m *mutation) {
	t := m.table
	if t.TimeToLive == "" {
		return
	}
	if v, ok := m.old[t.TimeToLive]; ok && item.Equal(v, m.new[t.TimeToLive]) {
		return
	}
	if second, ok := t.expiry(0, m.old); ok {
		b.Unset(append(key(expiryKey, t.number, second), m.place...))
	}
	s.expire(now, b, t, m.new, m.place)
}

// service is the principal that stream records name for the deletion of expired items.
const service = "dynamodb.amazonaws.com"

// sweepItems deletes the expired items of a table, in batches. It returns the time at which the next item expires,
// in milliseconds; 0 if none will.
func (s *Service) sweepItems(t *table) (due int64, err error) {
	const atOnce = 500
	for {
		var expired []*mutation
		var keys [][]byte
		due = 0
		err := s.change(func(now int64, b *documents.Batch) error {
			if s.tables[address{t.scope(), t.Name}] != t {
				return nil // another sweep follows the change
			}
			prefix := key(expiryKey, t.number)
			err := s.store.Each(prefix, func(k, _ []byte) error {
				if at := int64(binary.BigEndian.Uint64(k[len(prefix):])) * 1000; at > now || len(expired) == atOnce {
					due = max(at, now)
					return errEnough
				}
				keys = append(keys, append([]byte{}, k...))
				expired = append(expired, &mutation{table: t, remove: true, principal: service,
					place: append([]byte{}, k[len(prefix)+8:]...)})
				return nil
			})
			if err != nil && !errors.Is(err, errEnough) {
				return err
			}
			for i, m := range expired {
				if m.old, err = s.read(t, m.place); err != nil {
					return err
				}
				b.Unset(keys[i])
				if m.old == nil {
					continue
				}
				m.key = t.keyOf(m.old)
				if err := s.apply(now, b, m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(expired) < atOnce {
			return due, err
		}
	}
}
