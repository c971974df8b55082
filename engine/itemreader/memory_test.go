package itemreader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/jsonvalue"
)

// memoryObjects is an object store in a map, with small listing pages.
type memoryObjects map[string]string

var modified = time.Date(2022, 11, 17, 15, 44, 41, 0, time.UTC)

func (m memoryObjects) Get(_ context.Context, bucket, key, _, _ string) (io.ReadCloser, int64, error) {
	content, ok := m[key]
	if !ok || bucket != "data" {
		return nil, 0, errors.New("The specified key does not exist.") //nolint:revive // S3's own words
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

func (m memoryObjects) List(_ context.Context, bucket, prefix, token string) ([]ListedObject, string, error) {
	if bucket != "data" {
		return nil, "", errors.New("The specified bucket does not exist")
	}
	var found []ListedObject
	for key, content := range m {
		if strings.HasPrefix(key, prefix) && key > token {
			found = append(found, ListedObject{Key: key, ETag: `"e"`, Size: int64(len(content)),
				LastModified: modified})
		}
	}
	slices.SortFunc(found, func(a, b ListedObject) int { return strings.Compare(a.Key, b.Key) })
	if len(found) > 2 {
		return found[:2], found[1].Key, nil
	}
	return found, "", nil
}

const (
	getObject   = "arn:aws:states:::s3:getObject"
	listObjects = "arn:aws:states:::s3:listObjectsV2"
)

func csvConfig() Config {
	return Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"}
}

// readAll reads a dataset both as values and as text, and checks that the results are equal. It returns the child
// inputs as one JSON array and the error that ended the reading, or nil for io.EOF.
func readAll(ctx context.Context, objects Objects, cfg Config) (string, error) {
	values, err := readWith(ctx, objects, cfg, nextValue)
	texts, textErr := readWith(ctx, objects, cfg, Reader.NextText)
	if texts != values || fmt.Sprint(textErr) != fmt.Sprint(err) {
		return "", fmt.Errorf("values %s, %w; texts %s, %w", values, err, texts, textErr)
	}
	return values, err
}

// nextValue implements NextText with Next.
func nextValue(r Reader, ctx context.Context, dst []byte) ([]byte, Item, error) { //nolint:revive // as a method expression
	item, err := r.Next(ctx)
	return asText(dst, item, err)
}

func readWith(ctx context.Context, objects Objects, cfg Config,
	next func(Reader, context.Context, []byte) ([]byte, Item, error)) (string, error) {
	r, err := Open(ctx, objects, cfg)
	if err != nil {
		return "", err
	}
	defer r.Close()
	out := []byte{'['}
	for {
		text, item, err := next(r, ctx, nil)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return string(append(out, ']')), err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, inputText(item, text)...)
	}
}

// inputText returns the input of an item's child execution.
func inputText(item Item, value []byte) string {
	if !item.Keyed {
		return string(value)
	}
	return fmt.Sprintf(`{"Key":%s,"Value":%s}`, jsonvalue.OfString(item.Key).JSON(), value)
}

func wantItems(t *testing.T, objects Objects, cfg Config, want string) {
	t.Helper()
	got, err := readAll(t.Context(), objects, cfg)
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if got != want {
		t.Errorf("items\n got %s\nwant %s", got, want)
	}
}

func wantCause(t *testing.T, objects Objects, cfg Config, want string) {
	t.Helper()
	_, err := readAll(t.Context(), objects, cfg)
	var typed *Error
	if !errors.As(err, &typed) {
		t.Fatalf("got error %v, want an *Error", err)
	}
	if typed.Cause != want {
		t.Errorf("cause\n got %s\nwant %s", typed.Cause, want)
	}
}

// zeroes is an endless body of one character.
type zeroes byte

func (z zeroes) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte{byte(z)}, len(p)))
	return len(p), nil
}

// Stat implements Ranges.
func (m memoryObjects) Stat(ctx context.Context, bucket, key, _ string) (int64, string, error) {
	_, size, err := m.Get(ctx, bucket, key, "", "")
	return size, "e", err
}

// GetRange implements Ranges.
func (m memoryObjects) GetRange(_ context.Context, _, key, _, etag string, offset, length int64) (io.ReadCloser,
	error) {
	if etag != "e" {
		return nil, errors.New("At least one of the pre-conditions you specified did not hold")
	}
	return io.NopCloser(strings.NewReader(m[key][offset : offset+length])), nil
}
