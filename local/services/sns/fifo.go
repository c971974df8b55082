package sns

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// deduplicationInterval is the time for which a deduplication key is remembered.
const deduplicationInterval = 5 * time.Minute

// published is the response for a message of a FIFO topic.
type published struct {
	At           int64 // milliseconds since 1970
	ID, Sequence string
}

// duplicates holds the deduplication keys of a topic, ordered by time. It is guarded by the topic's order lock.
type duplicates struct {
	known map[string]*list.Element
	order list.List // known keys, oldest first
}

type knownKey struct {
	key string
	published
}

// find returns the response for the message that was published under a key.
func (d *duplicates) find(now int64, key string) (published, bool) {
	if e := d.known[key]; e != nil {
		if k := e.Value.(knownKey); now < k.At+deduplicationInterval.Milliseconds() {
			return k.published, true
		}
	}
	return published{}, false
}

// remember stores the response for the message that was published under a key.
func (d *duplicates) remember(key string, p published) {
	if d.known == nil {
		d.known = map[string]*list.Element{}
	}
	if e := d.known[key]; e != nil {
		d.order.Remove(e)
	}
	d.known[key] = d.order.PushBack(knownKey{key, p})
}

// forget removes the expired keys and returns them.
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

// loadDuplicates loads the deduplication keys of all topics.
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
	slices.SortStableFunc(all, func(a, b kept) int { return int(min(1, max(-1, a.At-b.At))) })
	for _, k := range all {
		k.topic.recent.remember(k.key, k.published)
	}
	return nil
}

// deduplication returns the deduplication key of a message for a FIFO topic. It sets the deduplication ID of a
// message that has none.
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

// sequence formats n as a sequence number: twenty digits that increase with n.
func sequence(n uint64) string {
	const first = 10_000_000_000_000_000_000
	return fmt.Sprintf("%020d", first+n)
}

// publishInOrder publishes messages to a FIFO topic. For duplicates it returns the earlier result. The deduplication
// keys are stored after the queues have the messages: if the process is killed in between, a repeated request is
// delivered again, and a FIFO queue recognizes it by its deduplication ID.
func (s *Service) publishInOrder(t *topic, plan *publication) error {
	t.order.Lock()
	defer t.order.Unlock()
	number, err := s.sequenceNumbers(len(plan.messages))
	if err != nil {
		return err
	}
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
		m.Sequence = sequence(number)
		number++
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
	if err := s.dispatch(b, plan, kept, true); err != nil {
		s.dropped()
		return err
	}
	for _, key := range keys {
		t.recent.remember(key, fresh[key])
	}
	return nil
}
