package documents

// Table is the part of a store that one service uses. Tables cannot see each other's keys.
type Table struct {
	store  *Store
	prefix []byte
}

// Table returns the table with a name, which must not contain a zero byte. Nothing is written.
func (s *Store) Table(name string) *Table {
	return &Table{store: s, prefix: append([]byte(name), 0)}
}

func (t *Table) key(key string) []byte {
	return append(t.prefix[:len(t.prefix):len(t.prefix)], key...)
}

// Get returns a copy of the value of a key; found is false if there is none.
func (t *Table) Get(key string) (value []byte, found bool, err error) { return t.store.Get(t.key(key)) }

// Scan calls read for all keys that begin with prefix, in order, with their values. If read returns an error, Scan
// stops and returns it. The value is valid only during the call.
func (t *Table) Scan(prefix string, read func(key string, value []byte) error) error {
	return t.store.Each(t.key(prefix), t.cut(read))
}

// ScanFrom is like Scan, but starts at the key from, or at the first key after it.
func (t *Table) ScanFrom(prefix, from string, read func(key string, value []byte) error) error {
	if from < prefix {
		from = prefix
	}
	return t.store.Range(t.key(from), after(t.key(prefix)), false, t.cut(read))
}

// cut returns a reader that removes the table's prefix from keys.
func (t *Table) cut(read func(key string, value []byte) error) func(key, value []byte) error {
	return func(key, value []byte) error { return read(string(key[len(t.prefix):]), value) }
}
