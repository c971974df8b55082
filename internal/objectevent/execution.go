package objectevent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// maxExecutionName is Step Functions' limit for the length of an execution's name.
const maxExecutionName = 80

// digestLength is the number of hexadecimal digits of the name's suffix: 128 bits, so that two files do not collide
// by chance.
const digestLength = 32

// ManifestSuffix is the ending of the keys of manifests: an object with it starts one import of the files that it
// lists, by a state machine of its own.
const ManifestSuffix = ".manifest"

// OfManifest reports whether e is about a manifest.
func (e Event) OfManifest() bool { return strings.HasSuffix(e.Detail.Object.Key, ManifestSuffix) }

// ManifestInput is the input of the execution that the event of a manifest starts.
type ManifestInput struct {
	Manifest string `json:"manifest"` // the key
	ETag     string `json:"etag"`
}

// StartInput returns the input of the execution that e starts: a ManifestInput for a manifest, otherwise an
// ExecutionInput. They are inputs of different state machines; see OfManifest.
func (e Event) StartInput() any {
	if e.OfManifest() {
		return ManifestInput{Manifest: e.Detail.Object.Key, ETag: e.Detail.Object.ETag}
	}
	return e.ExecutionInput()
}

// ExecutionInput is the input of the execution that an event of a file starts.
type ExecutionInput struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
	ETag   string `json:"etag"`
}

// ExecutionInput returns the input of the execution that e starts. Its JSON encoding is identical for every delivery
// of the event.
func (e Event) ExecutionInput() ExecutionInput {
	return ExecutionInput{Bucket: e.Detail.Bucket.Name, Key: e.Detail.Object.Key, ETag: e.Detail.Object.ETag}
}

// ExecutionName returns the name of the execution that e starts; see the function ExecutionName.
func (e Event) ExecutionName() string {
	return ExecutionName(e.Detail.Bucket.Name, e.Detail.Object.Key, e.Detail.Object.ETag)
}

// EarlierExecutionName returns the name that earlier versions gave the execution; see the function
// EarlierExecutionName.
func (e Event) EarlierExecutionName() string {
	return EarlierExecutionName(e.Detail.Object.Key, e.Detail.Object.ETag)
}

// ExecutionName names the execution for one version of one file. The same bucket, key and ETag (with or without
// quotes) always give the same name, so the execution for a repeated event already exists; any other bucket, key or
// ETag gives another name. The name consists of the key's base name, made readable, and a digest of all three. It has
// at most 80 characters out of A-Z a-z 0-9 - and _, which both Step Functions and CloudWatch accept.
func ExecutionName(bucket, key, etag string) string {
	return named(key, bucket, key, strings.Trim(etag, `"`))
}

// EarlierExecutionName returns the name that earlier versions gave the execution for a file. Its digest lacks the
// bucket, so files of two buckets with the same key and content had one name.
func EarlierExecutionName(key, etag string) string { return named(key, key, strings.Trim(etag, `"`)) }

func named(key string, digested ...string) string {
	base := readable(path.Base(key), maxExecutionName-digestLength-1)
	if base == "" {
		base = "object"
	}
	return base + "-" + digest(digested)
}

// readable keeps letters, digits, - and _ of s, replaces each run of other characters with one -, and cuts the result
// to limit bytes.
func readable(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == limit {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// digest hashes texts. It writes the length of each but the last first, so that ("ab", "c") and ("a", "bc") differ.
func digest(texts []string) string {
	h := sha256.New()
	for i, text := range texts {
		if i < len(texts)-1 {
			var length [8]byte
			binary.BigEndian.PutUint64(length[:], uint64(len(text)))
			h.Write(length[:])
		}
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))[:digestLength]
}

// Numbered returns the name of the n-th execution for the same file, from 2; the first has the name itself.
func Numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	suffix := "-" + strconv.Itoa(n)
	return name[:min(len(name), maxExecutionName-len(suffix))] + suffix
}
