package itemreader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return string(z.EncodeAll([]byte(text), nil))
}

func TestCompressedObjects(t *testing.T) {
	t.Parallel()
	const text = "a\n1\n"
	objects := memoryObjects{"f.csv.gz": zipped(t, text), "f.csv.zst": zstandard(t, text), "f.csv.zstd": zstandard(t,
		text), "g.csv.gz": "name,count\nalice,1\n"}
	for _, key := range []string{"f.csv.gz", "f.csv.zst", "f.csv.zstd"} {
		cfg := csvConfig()
		cfg.Key = key
		wantItems(t, objects, cfg, `[{"a":"1"}]`)
	}
	cfg := csvConfig()
	cfg.Key = "g.csv.gz"
	wantCause(t, objects, cfg, "reading S3://data/g.csv.gz: the name ends in .gz, but the content is not gzip: gzip: invalid header")
}

// hugeObjects claims a given size, or never ends.
type hugeObjects struct {
	memoryObjects
	size int64
}

func (h hugeObjects) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(zeroes('x')), h.size, nil
}

func TestObjectSizeLimit(t *testing.T) {
	t.Parallel()
	const want = "S3://data/f is larger than 10 GB (10737418240 bytes), the largest object that a Map can read; split it and list the " +
		"parts with s3:listObjectsV2 and Transformation LOAD_AND_FLATTEN"
	wantCause(t, hugeObjects{size: MaxObjectBytes + 1}, csvConfig(), want)

	_, err := io.ReadAll(&capped{r: io.LimitReader(zeroes('x'), 11), left: 10, where: "S3://data/f"})
	var typed *Error
	if !errors.As(err, &typed) || typed.Cause != want {
		t.Errorf("got %v", err)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{"a/": "", "a/1.txt": "0HelloWorld!", "a/2.txt": "x", "b": ""}
	cfg := Config{Resource: listObjects, Bucket: "data", Prefix: "a/"}
	wantItems(t, objects, cfg, `[{"Etag":"\"e\"","Key":"a/","LastModified":1.668699881E9,"Size":0,"StorageClass":"STANDARD"},`+
		`{"Etag":"\"e\"","Key":"a/1.txt","LastModified":1.668699881E9,"Size":12,"StorageClass":"STANDARD"},`+
		`{"Etag":"\"e\"","Key":"a/2.txt","LastModified":1.668699881E9,"Size":1,"StorageClass":"STANDARD"}]`)
	cfg.Prefix = "none"
	wantItems(t, objects, cfg, `[]`)
	cfg.Bucket = "elsewhere"
	wantCause(t, objects, cfg, "The specified bucket does not exist")
}

func TestLoadAndFlatten(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{"in/": "", "in/1.csv": "a\n1\n2\n", "in/2.csv": "", "in/3.csv": "b\n3\n",
		"in/4.csv.gz": zipped(t, "a\n4\n")}
	cfg := Config{Resource: listObjects, Bucket: "data", Prefix: "in/", Transformation: "LOAD_AND_FLATTEN",
		InputType:         "CSV",
		CSVHeaderLocation: "FIRST_ROW"}
	wantItems(t, objects, cfg, `[{"a":"1"},{"a":"2"},{"b":"3"},{"a":"4"}]`)

	r, err := Open(t.Context(), objects, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Skip(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	item, err := r.Next(t.Context())
	if err != nil || item.Index != 2 || item.Source != "S3://data/in/3.csv" || item.Value.JSON() != `{"b":"3"}` {
		t.Errorf("got %+v, %v", item, err)
	}
	if got, want := r.Position(), (Position{Index: 3, Source: "S3://data/in/3.csv", Offset: 4}); got != want {
		t.Errorf("position %+v, want %+v", got, want)
	}
}

func TestInventory(t *testing.T) {
	t.Parallel()
	const manifest = `{"sourceBucket":"source","destinationBucket":"arn:aws:s3:::data","version":"2016-11-30","fileFormat":"CSV",` +
		`"fileSchema":"Bucket, Key, Size, LastModifiedDate","files":[{"key":"d/1.csv.gz","size":1},{"key":"d/2.csv","size":1}]}`
	objects := memoryObjects{
		"manifest.json": manifest,
		"d/1.csv.gz":    zipped(t, `"source","csvDataset/","0","2022-11-16T00:27:19.000Z"`+"\n"),
		"d/2.csv":       `"source","csvDataset/titles.csv","3399671","2022-11-16T00:29:32.000Z"`,
		"orc.json":      `{"destinationBucket":"arn:aws:s3:::data","fileFormat":"ORC"}`,
		"text":          "hello",
	}
	const want = `[{"Bucket":"source","Key":"csvDataset/","Size":"0","LastModifiedDate":"2022-11-16T00:27:19.000Z"},` +
		`{"Bucket":"source","Key":"csvDataset/titles.csv","Size":"3399671","LastModifiedDate":"2022-11-16T00:29:32.000Z"}]`
	cfg := Config{Resource: getObject, Bucket: "data", Key: "manifest.json", InputType: "MANIFEST"}
	wantItems(t, objects, cfg, want)
	cfg.InputType, cfg.ManifestType = "", "S3_INVENTORY"
	wantItems(t, objects, cfg, want)
	named := Config{Resource: getObject, Bucket: "data", Key: "manifest.json", InputType: "MANIFEST",
		CSVHeaderLocation: "GIVEN", CSVHeaders: []string{"b", "k"}}
	wantItems(t, objects, named, `[{"b":"source","k":"csvDataset/"},{"b":"source","k":"csvDataset/titles.csv"}]`)
	cfg.Key = "orc.json"
	wantCause(t, objects, cfg, `S3://data/orc.json is not the manifest of a CSV inventory (fileFormat "ORC"); configure the S3 inventory `+
		`with output format CSV`)
	cfg.Key = "text"
	wantCause(t, objects, cfg, `S3://data/text is not JSON: Unrecognized token 'hello': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false') at line 1, column 1; it must be the `+
		`manifest.json of an S3 inventory`)
}

func TestAthenaManifest(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{
		"q-manifest.csv": "s3://data/u/1.gz\ns3://data/u/2\n",
		"bad":            "s3://data/u/2\nu/2\n",
		"u/1.gz":         "",
		"u/2":            "2,b\n",
	}
	objects["u/1.gz"] = zipped(t, "1,a\n")
	cfg := Config{Resource: getObject, Bucket: "data", Key: "q-manifest.csv", ManifestType: "ATHENA_DATA",
		InputType:         "CSV",
		CSVHeaderLocation: "GIVEN", CSVHeaders: []string{"n", "s"}}
	wantItems(t, objects, cfg, `[{"n":"1","s":"a"},{"n":"2","s":"b"}]`)
	cfg.CSVHeaderLocation = ""
	wantCause(t, objects, cfg, "the CSV files of an Athena UNLOAD query have no header row; give a CSVHeaderLocation of GIVEN and CSVHeaders, "+
		"the names of the columns")
	cfg.Key, cfg.CSVHeaderLocation = "bad", "GIVEN"
	wantCause(t, objects, cfg, `S3://data/bad line 2: "u/2" is not the URI of an object (s3://bucket/key); ManifestType ATHENA_DATA reads `+
		`the …-manifest.csv that an Athena UNLOAD query leaves behind`)
}
