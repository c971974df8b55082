package pebble

import "encoding/binary"

// The keys of the store begin with a letter for the kind of data. The letter d belongs to documents.
const (
	versionKey       = "v"  // the format version, as decimal text
	executionPrefix  = "x/" // ARN → description, and the whole history of an ended execution if that is short
	historyPrefix    = "h/" // ARN → whole history, of other ended executions
	textsPrefix      = "p/" // ARN → long texts of the first step, to which the description, steps and history refer
	stepPrefix       = "s/" // ARN, 0, number → one step, of running executions
	eventsPrefix     = "e/" // ARN → all signals, of executions that ended without success
	definitionPrefix = "m/" // ID → definition
	mapRunPrefix     = "r/" // ARN → Map Run
	ofPrefix         = "q/" // ARN of an execution, 0, ARN of one of its Map Runs → nothing
	endPrefix        = "t/" // time of end, ARN → nothing, of executions that are not children
	indexPrefix      = "i/" // list, status, start, ARN → the values that lists filter by, of ended executions
	indexedKey       = "i"  // marks that all executions are in the index
)

func stepKey(dst []byte, arn string, step int64) []byte {
	dst = append(append(append(dst, stepPrefix...), arn...), 0)
	return binary.BigEndian.AppendUint64(dst, uint64(step))
}

func endKey(dst []byte, nanos int64, arn string) []byte {
	return append(binary.BigEndian.AppendUint64(append(dst, endPrefix...), uint64(nanos)), arn...)
}

// prefixEnd returns the first key after all keys that begin with prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
