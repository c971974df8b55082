package dynamodb

import "stepback/local/services/dynamodb/item"

// The size in bytes that one unit of capacity reads and writes.
const readUnitBytes, writeUnitBytes = 4 << 10, 1 << 10

// capacity is the capacity that a request consumes on a table or an index.
type capacity struct {
	Units      float64  `json:"CapacityUnits"`
	ReadUnits  *float64 `json:"ReadCapacityUnits,omitempty"`
	WriteUnits *float64 `json:"WriteCapacityUnits,omitempty"`
}

// consumed is the capacity that a request consumes on a table and its indexes.
type consumed struct {
	Name string `json:"TableName"`
	capacity
	Table  *capacity           `json:"Table,omitempty"`
	Local  map[string]capacity `json:"LocalSecondaryIndexes,omitempty"`
	Global map[string]capacity `json:"GlobalSecondaryIndexes,omitempty"`
}

// usage accumulates what a request consumes on a table.
type usage struct {
	table       *table
	own         float64
	indexes     map[string]float64
	write       bool
	transaction bool
}

func (u *usage) addIndex(name string, units float64) {
	if units == 0 {
		return
	}
	if u.indexes == nil {
		u.indexes = map[string]float64{}
	}
	u.indexes[name] += units
}

// units returns the number of units for a number of bytes.
func units(bytes, each int) float64 { return float64(max(1, (bytes+each-1)/each)) }

// readUnits returns the units for reading a number of bytes. Eventually consistent reads cost half.
func readUnits(bytes int, consistent bool) float64 {
	n := units(bytes, readUnitBytes)
	if !consistent {
		n /= 2
	}
	return n
}

// addWrite counts a write. It adds the units for the larger of the old and the new item, and for each index the
// units for what changed there.
func (u *usage) addWrite(m *mutation) {
	factor := 1.0
	if u.transaction {
		factor = 2
	}
	u.write = true
	u.own += factor * units(max(m.old.Size(), m.new.Size()), writeUnitBytes)
	if !m.writes() {
		return
	}
	t := m.table
	for n := range t.Indexes {
		x := &t.Indexes[n]
		there, then := x.has(m.old), x.has(m.new)
		before, after := 0.0, 0.0
		var old, new item.Item
		if there {
			old = t.project(x, m.old)
			before = units(old.Size(), writeUnitBytes)
		}
		if then {
			new = t.project(x, m.new)
			after = units(new.Size(), writeUnitBytes)
		}
		switch {
		case there && then && item.EqualItems(old, new):
		case there && then && string(appendPlace(nil, x.Keys, m.old)) == string(appendPlace(nil, x.Keys, m.new)):
			u.addIndex(x.Name, factor*max(before, after))
		default:
			u.addIndex(x.Name, factor*(before+after))
		}
	}
}

// answer returns the consumed capacity for a request that asked for TOTAL or INDEXES; nil for others.
func (u *usage) answer(asked string) *consumed {
	if asked != "TOTAL" && asked != "INDEXES" {
		return nil
	}
	out := &consumed{Name: u.table.Name}
	out.Units = u.own
	for _, n := range u.indexes {
		out.Units += n
	}
	of := func(units float64) capacity {
		c := capacity{Units: units}
		switch {
		case u.transaction && u.write:
			c.WriteUnits = &c.Units
		case u.transaction:
			c.ReadUnits = &c.Units
		}
		return c
	}
	out.capacity = of(out.Units)
	if asked == "TOTAL" {
		return out
	}
	own := of(u.own)
	out.Table = &own
	for name, n := range u.indexes {
		to := &out.Global
		if x := u.table.index(name); x != nil && x.Local {
			to = &out.Local
		}
		if *to == nil {
			*to = map[string]capacity{}
		}
		(*to)[name] = of(n)
	}
	return out
}

// collection holds the metrics of an item collection: all items with one partition key, in a table with local
// indexes.
type collection struct {
	Key   item.Item  `json:"ItemCollectionKey"`
	Range [2]float64 `json:"SizeEstimateRangeGB"`
}

func (m *mutation) collection(asked string) *collection {
	if asked != "SIZE" {
		return nil
	}
	for _, x := range m.table.Indexes {
		if x.Local {
			hash := m.table.Keys.Hash
			return &collection{Key: item.Item{hash: m.key[hash]}, Range: [2]float64{0, 1}}
		}
	}
	return nil
}
