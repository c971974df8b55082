package sns

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stepback/internal/sorting"
)

// deduplicationInterval is how long a message is known under its deduplication key.
const deduplicationInterval = 5 * time.Minute

// published is what was answered for a message of a FIFO topic.
type published struct {
	At           int64 // milliseconds since 1970
	ID, Sequence string
}

// duplicates are the deduplication keys of a topic, in the order of their times. The topic's order is held for it.
type duplicates struct {
	known map[string]*list.Element
	order list.List // of known keys
}

type knownKey struct {
	key string
	published
}

// find finds what was published under a key.
func (d *duplicates) find(now int64, key string) (published, bool) {
	if e := d.known[key]; e != nil {
		if k := e.Value.(knownKey); now < k.At+deduplicationInterval.Milliseconds() {
			return k.published, true
		}
	}
	return published{}, false
}

// remember keeps that something was published under a key.
func (d *duplicates) remember(key string, p published) {
	if d.known == nil {
		d.known = map[string]*list.Element{}
	}
	if e := d.known[key]; e != nil {
		d.order.Remove(e)
	}
	d.known[key] = d.order.PushBack(knownKey{key, p})
}

// forget removes the keys that are too old, and returns them.
func (d *duplicates) forget(now int64) (gone []string) {
	for e := d.order.Front(); e != nil; e = d.order.Front() {
		k := e.Value.(knownKey)
		if now < k.At+deduplicationInterval.Milliseconds() {
			break
		}
		d.order.Remove(e)
		delete(d.known, k.key)
		gone = append(gone, k.key)
	}
	return gone
}

func (s *Service) duplicateKey(t *topic, key string) string {
	return keyDuplicate + t.arn + "\x00" + key
}

// loadDuplicates reads the deduplication keys of all topics.
func (s *Service) loadDuplicates() error {
	type kept struct {
		topic *topic
		key   string
		published
	}
	var all []kept
	if err := s.table.Scan(keyDuplicate, func(key string, text []byte) error {
		arn, name, _ := strings.Cut(strings.TrimPrefix(key, keyDuplicate), "\x00")
		if t := s.topics[arn]; t != nil {
			k := kept{topic: t, key: name}
			if err := json.Unmarshal(text, &k.published); err != nil {
				return err
			}
			all = append(all, k)
		}
		return nil
	}); err != nil {
		return err
	}
	sorting.Stable(all, func(a, b kept) int { return int(min(1, max(-1, a.At-b.At))) })
	for _, k := range all {
		k.topic.recent.remember(k.key, k.published)
	}
	return nil
}

// deduplication is the key under which a message of a FIFO topic is known. It sets the ID of a message that has none.
func (m *message) deduplication(perGroup bool) string {
	if m.Deduplication == "" {
		sum := sha256.Sum256([]byte(m.Body))
		m.Deduplication = hex.EncodeToString(sum[:])
	}
	if perGroup {
		return m.Group + "\x00" + m.Deduplication
	}
	return m.Deduplication
}

// sequence is a number as sequence numbers are: twenty digits that grow.
func sequence(n uint64) string {
	const first = 10_000_000_000_000_000_000
	return fmt.Sprintf("%020d", first+n)
}

// publishInOrder publishes messages of a FIFO topic. Those that were published before get their answers.
func (s *Service) publishInOrder(t *topic, plan *publication) error {
	t.order.Lock()
	defer t.order.Unlock()
	b, err := s.opts.Store.Begin()
	if err != nil {
		return err
	}
	s.mu.Lock()
	now := s.now()
	for _, key := range t.recent.forget(now) {
		b.Delete(s.table, s.duplicateKey(t, key))
	}
	fresh := map[string]published{}
	var keys []string
	kept := plan.messages[:0:0]
	for _, m := range plan.messages {
		key := m.deduplication(plan.perGroup)
		before, known := t.recent.find(now, key)
		if again, ok := fresh[key]; ok {
			before, known = again, true
		}
		if known {
			m.ID, m.Sequence = before.ID, before.Sequence
			continue
		}
		m.Sequence = sequence(s.number(b))
		p := published{now, m.ID, m.Sequence}
		if err := s.put(b, s.duplicateKey(t, key), p); err != nil {
			s.mu.Unlock()
			return err
		}
		fresh[key] = p
		keys = append(keys, key)
		kept = append(kept, m)
	}
	s.mu.Unlock()
	if len(kept) == 0 {
		b.Sync()
		return b.Apply()()
	}
	if err := s.dispatch(b, plan, kept); err != nil {
		return err
	}
	for _, key := range keys {
		t.recent.remember(key, fresh[key])
	}
	return nil
}
