package dynamodb

import (
	"bytes"
	"encoding/binary"

	"stepback/aws"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// mutation is one write of an item, or only a condition check. One of put, update and remove is set for a write;
// none for a condition check.
type mutation struct {
	table     *table
	place     []byte
	key       item.Item
	condition *expression.Condition
	put       item.Item
	update    *expression.Update
	remove    bool
	tellOld   bool // if the condition fails, the error contains the item
	insert    bool // if the condition fails, the item already exists
	principal string

	old, new item.Item // the item before and after; nil for none
}

// conditionFailed returns the error of a failed condition, with the item if it was requested.
func (m *mutation) conditionFailed() *aws.Error {
	e := &aws.Error{Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
	if m.insert {
		e = &aws.Error{Code: duplicateItem, Message: "Duplicate primary key exists in table"}
	}
	if m.tellOld && m.old != nil {
		e.Members = map[string]any{"Item": m.old, "Message": e.Message} // spelled so, and only so, beside an item
	}
	return e
}

// decide reads the existing item, checks the condition, and computes the new item. The caller holds mu.
func (s *Service) decide(m *mutation) (err error) {
	if m.old, err = s.read(m.table, m.place); err != nil {
		return err
	}
	if m.condition != nil && !m.condition.Holds(m.old) {
		return m.conditionFailed()
	}
	switch {
	case m.put != nil:
		m.new = m.put
	case m.remove:
	case m.update != nil:
		if m.new, err = m.updated(); err != nil {
			return err
		}
	default:
		m.new = m.old
	}
	return nil
}

// updated returns the item after the update.
func (m *mutation) updated() (item.Item, error) {
	before := m.old
	if before == nil {
		if !m.update.Creates() {
			return nil, nil
		}
		before = m.key
	}
	after, err := m.update.Apply(before)
	if err != nil {
		return nil, err
	}
	if err := m.table.checkIndexKeys(after); err != nil {
		return nil, err
	}
	if after.Size() > MaxItemBytes {
		return nil, item.Invalid("Item size to update has exceeded the maximum allowed size")
	}
	return after, nil
}

// writes reports whether the mutation changes anything.
func (m *mutation) writes() bool { return m.put != nil || m.update != nil || m.remove }

// apply adds a decided mutation to a batch: the item, its index entries, its expiry, and the stream record. The
// caller holds mu.
func (s *Service) apply(now int64, b *documents.Batch, m *mutation) error {
	t, c := m.table, m.table.counts
	if !m.writes() || m.old == nil && m.new == nil {
		return nil
	}
	k := t.itemKey(m.place)
	if m.new == nil {
		b.Unset(k)
	} else {
		b.Set(k, m.new.Append(nil))
	}
	c.Table = counted(c.Table, m.old, m.new)
	for n := range t.Indexes {
		x := &t.Indexes[n]
		there, then := x.has(m.old), x.has(m.new)
		if !there && !then {
			continue
		}
		var before, after []byte
		var shownOld, shownNew item.Item
		if there {
			before, shownOld = t.entry(x, m.old, m.place), t.project(x, m.old)
		}
		if then {
			after, shownNew = t.entry(x, m.new, m.place), t.project(x, m.new)
		}
		c.Indexes[x.Number] = counted(c.Indexes[x.Number], shownOld, shownNew)
		if bytes.Equal(before, after) {
			continue
		}
		if there {
			b.Unset(before)
		}
		if then {
			b.Set(after, m.place)
		}
	}
	s.applyExpiry(now, b, m)
	if err := s.record(now, b, m); err != nil {
		return err
	}
	b.Set(key(statsKey, t.number), c.append(nil))
	return nil
}

func counted(c stats, old, new item.Item) stats {
	if old != nil {
		c.Items--
		c.Bytes -= int64(old.Size())
	}
	if new != nil {
		c.Items++
		c.Bytes += int64(new.Size())
	}
	return c
}

// append appends the stored form of the counts: those of the table, then for each index its number and its counts.
func (c *counts) append(dst []byte) []byte {
	dst = binary.AppendVarint(binary.AppendVarint(dst, c.Table.Items), c.Table.Bytes)
	for number, x := range c.Indexes {
		dst = binary.AppendVarint(binary.AppendVarint(binary.AppendUvarint(dst, number), x.Items), x.Bytes)
	}
	return dst
}

func countsOf(b []byte) (*counts, error) {
	c := &counts{Indexes: map[uint64]stats{}}
	number := func() (n int64) {
		n, size := binary.Varint(b)
		b = b[max(size, 0):]
		return n
	}
	c.Table = stats{number(), number()}
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, item.ErrDamaged
		}
		b = b[size:]
		c.Indexes[n] = stats{number(), number()}
	}
	return c, nil
}
