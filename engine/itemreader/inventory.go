package itemreader

import (
	"context"
	"io"
	"strings"

	"stepback/jsonvalue"
)

// maxManifestBytes limits an inventory's manifest.json, which is read as a whole; it has about 200 bytes per data
// file.
const maxManifestBytes = 64 << 20

// inventoryFiles are the data files listed in the manifest of an S3 inventory.
type inventoryFiles struct {
	bucket string
	files  []jsonvalue.Value
}

// openInventory reads the manifest and then the rows of its CSV data files. Their header is the manifest's
// fileSchema, unless one is GIVEN. FIRST_ROW has no effect, because an inventory's files have no header row.
func openInventory(ctx context.Context, objects Objects, cfg *Config) (source, error) {
	manifest, err := readManifest(ctx, objects, cfg.location())
	if err != nil {
		return nil, err
	}
	where := cfg.location().String()
	if format := member(manifest, "fileFormat").Text(); format != "CSV" {
		return nil, failf("%s is not the manifest of a CSV inventory (fileFormat %q); configure the S3 inventory with output format CSV",
			where, format)
	}
	header := cfg.CSVHeaders
	if cfg.CSVHeaderLocation != "GIVEN" {
		header = strings.Split(member(manifest, "fileSchema").Text(), ",")
		for i, name := range header {
			header[i] = strings.TrimSpace(name)
		}
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	bucket := member(manifest, "destinationBucket").Text()
	if _, name, ok := strings.Cut(bucket, ":::"); ok {
		bucket = name
	}
	if bucket == "" {
		return nil, failf("%s names no destinationBucket; it must be the manifest.json of an S3 inventory", where)
	}
	rows := *cfg
	rows.InputType, rows.CSVHeaderLocation, rows.CSVHeaders = "CSV", "GIVEN", header
	return openSequence(ctx, objects, &rows, &inventoryFiles{bucket: bucket,
		files: member(manifest, "files").Elements()})
}

func readManifest(ctx context.Context, objects Objects, at location) (jsonvalue.Value, error) {
	t, err := openText(ctx, objects, at)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	content, err := io.ReadAll(io.LimitReader(t, maxManifestBytes+1))
	if err != nil {
		return jsonvalue.Value{}, t.abandon(bodyError(ctx, at.String(), err))
	}
	if err := t.Close(); err != nil {
		return jsonvalue.Value{}, bodyError(ctx, at.String(), err)
	}
	if len(content) > maxManifestBytes {
		return jsonvalue.Value{}, failf("%s is larger than 64 MiB; it must be the manifest.json of an S3 inventory", at)
	}
	manifest, err := jsonvalue.Parse(string(content))
	if err != nil {
		return manifest, &Error{Cause: at.String() + " is not JSON: " + err.Error() +
			"; it must be the manifest.json of an S3 inventory", Err: err}
	}
	return manifest, nil
}

func member(v jsonvalue.Value, name string) jsonvalue.Value {
	m, _ := v.Get(name)
	return m
}

func (f *inventoryFiles) nextKey(context.Context) (location, error) {
	if len(f.files) == 0 {
		return location{}, io.EOF
	}
	key := member(f.files[0], "key").Text()
	f.files = f.files[1:]
	if key == "" {
		return location{}, failf("the S3 inventory manifest lists a file without a key")
	}
	return location{bucket: f.bucket, key: key}, nil
}

func (f *inventoryFiles) close() error { return nil }
