package documents

// Table is the part of a store that one service uses. Tables do not see each other's keys.
type Table struct {
	store  *Store
	prefix []byte
}

// Table returns the table of a name, which must not contain a zero byte. Nothing is written.
func (s *Store) Table(name string) *Table {
	return &Table{store: s, prefix: append([]byte(name), 0)}
}

func (t *Table) key(key string) []byte {
	return append(t.prefix[:len(t.prefix):len(t.prefix)], key...)
}

// Get returns a copy of the value of a key, and whether there is one.
func (t *Table) Get(key string) (value []byte, found bool, err error) { return t.store.Get(t.key(key)) }

// Scan reads the values of all keys that begin with prefix, in the order of their keys, until read returns an error,
// which is returned. The value is valid during the call only.
func (t *Table) Scan(prefix string, read func(key string, value []byte) error) error {
	return t.store.Each(t.key(prefix), t.cut(read))
}

// ScanFrom reads as Scan does, from the first key on that is not before from.
func (t *Table) ScanFrom(prefix, from string, read func(key string, value []byte) error) error {
	if from < prefix {
		from = prefix
	}
	return t.store.Range(t.key(from), after(t.key(prefix)), false, t.cut(read))
}

// cut reads with keys as the table has them.
func (t *Table) cut(read func(key string, value []byte) error) func(key, value []byte) error {
	return func(key, value []byte) error { return read(string(key[len(t.prefix):]), value) }
}
