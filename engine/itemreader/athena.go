package itemreader

import (
	"context"
	"io"
	"strings"
)

// athenaFiles are the data files listed in the manifest of an Athena UNLOAD query, one s3:// URI per line.
type athenaFiles struct {
	text  *text
	lines csvRows
	where string
}

// openAthena reads the manifest line by line, and the data files in its order. UNLOAD writes CSV without a header, so
// CSVHeaderLocation is usually GIVEN.
func openAthena(ctx context.Context, objects Objects, cfg *Config) (source, error) {
	at := cfg.location()
	t, err := openText(ctx, objects, at)
	if err != nil {
		return nil, err
	}
	w := newWindow(t, MaxItemBytes)
	files := &athenaFiles{text: t, where: at.String(), lines: csvRows{w: w, where: at.String(), delimiter: ','}}
	return openSequence(ctx, objects, cfg, files)
}

func (a *athenaFiles) nextKey(ctx context.Context) (location, error) {
	line := a.lines.w.line
	fields, err := a.lines.read()
	if err == io.EOF {
		return location{}, io.EOF
	}
	if err != nil {
		return location{}, bodyError(ctx, a.where, err)
	}
	uri := strings.TrimSpace(fields[0])
	path, ok := strings.CutPrefix(uri, "s3://")
	bucket, key, named := strings.Cut(path, "/")
	if !ok || !named || bucket == "" || key == "" {
		return location{}, failf("%s line %d: %q is not the URI of an object (s3://bucket/key); ManifestType ATHENA_DATA reads the "+
			"…-manifest.csv that an Athena UNLOAD query leaves behind", a.where, line, uri)
	}
	return location{bucket: bucket, key: key}, nil
}

func (a *athenaFiles) close() error { return a.text.Close() }
