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

	"stepback/engine/itemreader/parquetrows"

	"github.com/parquet-go/parquet-go"
)

type parquetRow struct {
	UserID string `parquet:"user_id"`
	Points int32  `parquet:"points"`
}

// parquetFile writes rows in row groups of two.
func parquetFile[T any](t testing.TB, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.MaxRowsPerRowGroup(2))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var parquetFormat = Formats{"PARQUET": FormatOf(parquetrows.Open)}

func parquetConfig() Config {
	return Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "PARQUET", Formats: parquetFormat}
}

func TestParquet(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{"f": parquetFile(t, parquetRow{"u1", 1}, parquetRow{"u2", 2}, parquetRow{"u3", 3})}
	cfg := parquetConfig()
	wantItems(t, objects, cfg, `[{"user_id":"u1","points":1},{"user_id":"u2","points":2},{"user_id":"u3","points":3}]`)
	cfg.MaxItems = 2
	wantItems(t, objects, cfg, `[{"user_id":"u1","points":1},{"user_id":"u2","points":2}]`)
}

func TestParquetFaults(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{"f": "user_id,points\n", "empty": "", "cut": parquetFile(t, parquetRow{"u1", 1})[8:]}
	for key, want := range map[string]string{
		"f":      `reading S3://data/f: it is not a Parquet file: its last four bytes are "nts\n" instead of "PAR1"`,
		"empty":  "reading S3://data/empty: it is not a Parquet file: it has 0 bytes",
		"absent": "The specified key does not exist.",
	} {
		cfg := parquetConfig()
		cfg.Key = key
		wantCause(t, objects, cfg, want)
	}
	cfg := parquetConfig()
	cfg.Key = "cut"
	if _, err := readAll(t.Context(), objects, cfg); !errors.As(err, new(*Error)) || !strings.HasPrefix(err.Error(),
		ErrorName+": reading S3://data/cut: ") {
		t.Errorf("got %v", err)
	}
}

// textOnly is an object store that cannot read ranges.
type textOnly struct{ Objects }

func TestParquetNeedsRanges(t *testing.T) {
	t.Parallel()
	wantCause(t, textOnly{memoryObjects{}}, parquetConfig(),
		"the object store cannot read parts of an object, which InputType PARQUET needs")
}

func TestParquetNeedsItsFormat(t *testing.T) {
	t.Parallel()
	cfg := parquetConfig()
	cfg.Formats = nil
	wantCause(t, memoryObjects{}, cfg,
		"InputType PARQUET is not supported by this program; add it to the Formats of its engine.Config")
}

func TestParquetItemSize(t *testing.T) {
	t.Parallel()
	type row struct {
		Texts []string `parquet:"texts,list"`
	}
	large := row{Texts: slices.Repeat([]string{strings.Repeat("x", 1000)}, MaxItemBytes/1000+1)}
	objects := memoryObjects{"f": parquetFile(t, row{}, large)}
	wantCause(t, objects, parquetConfig(),
		"S3://data/f row 1: the item is larger than 8 MB (8388608 bytes), the largest that a Map can read; split it")
}

func TestParquetObjectSize(t *testing.T) {
	t.Parallel()
	wantCause(t, statedSize{memoryObjects{}}, parquetConfig(),
		"S3://data/f is larger than 10 GB (10737418240 bytes), the largest "+
			"object that a Map can read; split it and list the parts with s3:listObjectsV2 and Transformation LOAD_AND_FLATTEN")
}

// statedSize claims that every object is larger than a Map can read.
type statedSize struct{ memoryObjects }

func (statedSize) Stat(context.Context, string, string, string) (int64, string, error) {
	return MaxObjectBytes + 1, "e", nil
}

// manyParquet returns Parquet objects that are read one after the other.
func manyParquet(t testing.TB) memoryObjects {
	t.Helper()
	return memoryObjects{
		"in/1.parquet": parquetFile(t, parquetRow{"u1", 1}, parquetRow{"u2", 2}, parquetRow{"u3", 3}),
		"in/2":         parquetFile[parquetRow](t),
		"in/3":         parquetFile(t, parquetRow{"u4", 4}),
		"manifest.csv": "s3://data/in/1.parquet\ns3://data/in/2\ns3://data/in/3\n",
	}
}

func TestManyParquetObjects(t *testing.T) {
	t.Parallel()
	objects := manyParquet(t)
	const want = `[{"user_id":"u1","points":1},{"user_id":"u2","points":2},{"user_id":"u3","points":3},{"user_id":"u4","points":4}]`
	athena := Config{Resource: getObject, Bucket: "data", Key: "manifest.csv", InputType: "PARQUET",
		Formats:      parquetFormat,
		ManifestType: "ATHENA_DATA"}
	wantItems(t, objects, athena, want)
	listed := Config{Resource: listObjects, Bucket: "data", Prefix: "in/", InputType: "PARQUET", Formats: parquetFormat,
		Transformation: "LOAD_AND_FLATTEN"}
	wantItems(t, objects, listed, want)
}

// TestParquetResumes resumes at every position, as after a crash.
func TestParquetResumes(t *testing.T) {
	t.Parallel()
	objects := manyParquet(t)
	cfg := Config{Resource: listObjects, Bucket: "data", Prefix: "in/", InputType: "PARQUET", Formats: parquetFormat,
		Transformation: "LOAD_AND_FLATTEN"}
	marks := []string{"S3://data/in/1.parquet@0", "S3://data/in/1.parquet@1", "S3://data/in/1.parquet@2",
		"S3://data/in/1.parquet@3", "S3://data/in/3@1"}
	sources := []string{"S3://data/in/1.parquet", "S3://data/in/1.parquet", "S3://data/in/1.parquet", "S3://data/in/3"}
	for at := range int64(5) {
		r, err := Open(t.Context(), objects, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Skip(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if got := r.Mark(); got != marks[at] {
			t.Errorf("mark at %d: %s", at, got)
		}
		item, err := r.Next(t.Context())
		if at == 4 {
			if !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want the end", err)
			}
			continue
		}
		if points, _ := item.Value.Get("points"); err != nil || points.JSON() != string('1'+rune(at)) ||
			item.Source != sources[at] || item.Index != at {
			t.Errorf("item %d: %+v, %v", at, item, err)
		}
	}
}

// TestParquetKeepsItsVersion replaces the object while it is being read.
func TestParquetKeepsItsVersion(t *testing.T) {
	t.Parallel()
	objects := &replaced{memoryObjects: memoryObjects{"f": parquetFile(t, parquetRow{"u1", 1})}}
	wantCause(t, objects, parquetConfig(), "At least one of the pre-conditions you specified did not hold")
}

type replaced struct{ memoryObjects }

func (r *replaced) Stat(ctx context.Context, bucket, key, owner string) (int64, string, error) {
	size, _, err := r.memoryObjects.Stat(ctx, bucket, key, owner)
	return size, "older", err
}

func BenchmarkParquet(b *testing.B) {
	type row struct {
		UserID string `parquet:"user_id"`
		Logins int64  `parquet:"login_count"`
		Posts  int64  `parquet:"post_count"`
	}
	const rows = 100_000
	all := make([]row, rows)
	for i := range all {
		all[i] = row{fmt.Sprintf("user-%06d", i), int64(i % 17), int64(i % 5)}
	}
	var content bytes.Buffer
	if err := parquet.Write(&content, all, parquet.Compression(&parquet.Snappy)); err != nil {
		b.Fatal(err)
	}
	objects := memoryObjects{"f": content.String()}
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(b.Context(), objects, parquetConfig())
		for err == nil {
			_, err = r.Next(b.Context())
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
