package manyfiles

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/retry"
)

// Extensions returns the endings of the files that are taken from a folder or a prefix, in lower case.
func Extensions() []string { return []string{".csv", ".tsv", ".txt"} }

// Takes reports whether a file is taken from a folder or a prefix; name is its path below the folder or prefix, with
// slashes. Its ending has to be one of Extensions, in upper or lower case, and no part of the path may begin with a
// dot.
func Takes(name string) bool {
	if !slices.Contains(Extensions(), strings.ToLower(path.Ext(name))) {
		return false
	}
	return !hidden(name)
}

// hidden reports whether a part of a path begins with a dot.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// LeftOut counts the objects or files below a prefix or folder that Takes does not select, except those with a part
// that begins with a dot.
type LeftOut struct {
	Count int64    `json:"leftOut,omitempty"`
	Keys  []string `json:"leftOutKeys,omitempty"` // the first maxLeftOut of them
}

// maxLeftOut is the number of keys that a LeftOut names: the longest keys take 10 KB.
const maxLeftOut = 10

// Add counts an object.
func (l *LeftOut) Add(key string) {
	if l.Count++; len(l.Keys) < maxLeftOut {
		l.Keys = append(l.Keys, key)
	}
}

// Names names the objects; empty if there are none.
func (l LeftOut) Names() string {
	text := strings.Join(l.Keys, ", ")
	if n := l.Count - int64(len(l.Keys)); n > 0 {
		text += " and " + strconv.FormatInt(n, 10) + " more"
	}
	return text
}

// found returns the part of an error that names the objects; empty if there are none.
func (l LeftOut) found() string {
	if l.Count == 0 {
		return ""
	}
	return " (found: " + l.Names() + ")"
}

// Request is the input of an execution: it names the files. Exactly one of Prefix and Manifest is set.
type Request struct {
	// Prefix selects the objects of the input bucket whose keys begin with it and that Takes selects.
	Prefix string `json:"prefix,omitempty"`
	// Manifest is the key of an object of the input bucket that lists files, one in a line. ETag is its version; if it
	// is empty, any version is read.
	Manifest string `json:"manifest,omitempty"`
	ETag     string `json:"etag,omitempty"`
}

// Input is the event of ListFiles and SumFiles.
type Input struct {
	Request   json.RawMessage `json:"request"`   // a Request, as the execution was started with it
	Execution string          `json:"execution"` // the execution's name
	Work      aggregate.Place `json:"work"`      // where ListFiles writes the list

	// The following members are for SumFiles.
	List      *Report             `json:"list"`
	Results   aggregate.Place     `json:"results"` // where the ResultWriter wrote its files
	Output    aggregate.Place     `json:"output"`  // where the summary is written
	StartTime string              `json:"startTime"`
	MapError  *aggregate.MapError `json:"mapError"` // set if the Map as a whole failed
}

// ExecutionName returns the execution's name, for logs.
func (in Input) ExecutionName() string { return in.Execution }

// request parses the request. bucket is the input bucket: a Manifest or Prefix may also be an s3:// address in it.
func (in Input) request(bucket string) (Request, error) {
	const want = `start the execution with {"prefix": "staged/2026-11/"} or {"manifest": "november.manifest"}`
	var r Request
	decoder := json.NewDecoder(bytes.NewReader(in.Request))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, csvimport.Fail(retry.InvalidInput, "the execution's input: %w; %s", err, want)
	}
	if (r.Prefix == "") == (r.Manifest == "") {
		return r, csvimport.Fail(retry.InvalidInput, "the execution's input has to name either a prefix or a manifest; %s", want)
	}
	for _, text := range []*string{&r.Prefix, &r.Manifest} {
		key, ok := keyIn(bucket, *text)
		if !ok || key == "" && *text != "" {
			return r, csvimport.Fail(retry.InvalidInput, "%s is not in the input bucket %s, or is all of it; %s", *text, bucket, want)
		}
		*text = key
	}
	return r, nil
}

// keyIn returns the key that a text names: an s3:// address in the bucket, or the key itself. It returns false if the
// address is in another bucket.
func keyIn(bucket, text string) (string, bool) {
	rest, address := strings.CutPrefix(text, "s3://")
	if !address {
		return text, true
	}
	in, key, _ := strings.Cut(rest, "/")
	return key, in == bucket
}
