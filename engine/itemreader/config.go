package itemreader

import (
	"slices"
	"strings"
)

// Limits of the real service.
const (
	// MaxItemBytes is the size of the largest item, 8 MB of text; an ItemSelector must then reduce it to 256 KiB.
	MaxItemBytes = 8 << 20
	// MaxObjectBytes is the size of the largest object, 10 GB, before and after decompression.
	MaxObjectBytes = 10 << 30
	// MaxHeaderBytes is the size of the largest CSV header, 10 KiB.
	MaxHeaderBytes = 10 << 10
	// MaxPointerBytes limits an ItemsPointer, which must be shorter.
	MaxPointerBytes = 2000
	// MaxPointedOffset is the largest offset in a document to which an ItemsPointer may point, 16 MB.
	MaxPointedOffset = 16 << 20
)

// Config is an ItemReader whose templates and paths have been evaluated. The fields hold AWS's own terms.
type Config struct {
	// Resource is arn:<partition>:states:::s3:getObject or …:s3:listObjectsV2.
	Resource string

	Bucket              string
	Key                 string // getObject
	VersionID           string // getObject, optional
	ExpectedBucketOwner string // getObject, optional
	Prefix              string // listObjectsV2, optional

	InputType      string // CSV, JSON, JSONL, PARQUET, MANIFEST; empty for a plain listing and S3_INVENTORY
	Transformation string // NONE (default) or LOAD_AND_FLATTEN, listings only
	ManifestType   string // S3_INVENTORY or ATHENA_DATA

	CSVDelimiter string // COMMA (default), PIPE, SEMICOLON, SPACE, TAB
	// FIRST_ROW or GIVEN; required for CSV, allowed for an S3 inventory, whose manifest contains the header
	CSVHeaderLocation string
	CSVHeaders        []string // GIVEN only
	ItemsPointer      string   // JSON only: JSON Pointer (RFC 6901) to the array or object; empty means the document

	// Formats are readers for formats that this package does not support itself.
	Formats Formats

	// MaxItems stops the reader after this many items; 0 means no limit, a negative number is an error.
	MaxItems int64
}

var delimiters = map[string]byte{"": ',', "COMMA": ',', "PIPE": '|', "SEMICOLON": ';', "SPACE": ' ', "TAB": '\t'}

func (c *Config) listing() bool { return strings.HasSuffix(c.Resource, ":s3:listObjectsV2") }

// inventory reports whether the object is an S3 inventory manifest. InputType MANIFEST alone is the form used before
// ManifestType existed.
func (c *Config) inventory() bool {
	return c.ManifestType == "S3_INVENTORY" || c.ManifestType == "" && c.InputType == "MANIFEST"
}

func (c *Config) check() error {
	switch {
	case c.MaxItems < 0:
		return &Error{Cause: causeNegativeMaxItems}
	case !c.listing() && !strings.HasSuffix(c.Resource, ":s3:getObject"):
		return failf("ItemReader Resource %q is not supported; use arn:aws:states:::s3:getObject or arn:aws:states:::s3:listObjectsV2",
			c.Resource)
	case c.Bucket == "":
		return failf("the ItemReader names no bucket; give Bucket in its Parameters or Arguments")
	}
	if err := c.checkWords(); err != nil {
		return err
	}
	if c.listing() {
		return c.checkListing()
	}
	if c.Key == "" {
		return failf("the ItemReader names no object in bucket %q; give Key in its Parameters or Arguments", c.Bucket)
	}
	return c.checkObject()
}

func (c *Config) checkWords() error {
	for _, w := range []struct {
		field, value string
		allowed      []string
	}{
		{"InputType", c.InputType, []string{"", "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}},
		{"Transformation", c.Transformation, []string{"", "NONE", "LOAD_AND_FLATTEN"}},
		{"ManifestType", c.ManifestType, []string{"", "ATHENA_DATA", "S3_INVENTORY"}},
		{"CSVHeaderLocation", c.CSVHeaderLocation, []string{"", "FIRST_ROW", "GIVEN"}},
		{"CSVDelimiter", c.CSVDelimiter, []string{"", "COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}},
	} {
		if !slices.Contains(w.allowed, w.value) {
			return failf("%s %q is not one of %s", w.field, w.value, strings.Join(slices.DeleteFunc(w.allowed,
				func(s string) bool { return s == "" }), ", "))
		}
	}
	return nil
}

func (c *Config) checkListing() error {
	if c.Transformation != "LOAD_AND_FLATTEN" {
		return nil
	}
	if c.InputType == "" || c.InputType == "MANIFEST" {
		return failf("Transformation LOAD_AND_FLATTEN needs an InputType of CSV, JSON, JSONL or PARQUET")
	}
	return c.checkFormat()
}

func (c *Config) checkObject() error {
	switch {
	case c.ManifestType == "S3_INVENTORY" && c.InputType != "" && c.InputType != "MANIFEST":
		return failf("ManifestType S3_INVENTORY takes no InputType, its data files are CSV; remove InputType %s",
			c.InputType)
	case c.inventory():
		return nil
	case c.ManifestType == "ATHENA_DATA" && !slices.Contains([]string{"CSV", "JSONL", "PARQUET"}, c.InputType):
		return failf("ManifestType ATHENA_DATA needs an InputType of CSV, JSONL or PARQUET, the format of the UNLOAD query")
	case c.InputType == "":
		return failf("s3:getObject needs a ReaderConfig with an InputType of CSV, JSON, JSONL, PARQUET or MANIFEST")
	case c.InputType == "PARQUET" && c.ManifestType == "" && c.VersionID != "":
		return failf("InputType PARQUET does not support VersionId; remove it, the latest version is read")
	}
	return c.checkFormat()
}

func (c *Config) checkFormat() error {
	if len(c.ItemsPointer) >= MaxPointerBytes {
		return failf("the ItemsPointer has %d bytes, fewer than %d are allowed", len(c.ItemsPointer), MaxPointerBytes)
	}
	if c.InputType != "CSV" {
		return nil
	}
	switch c.CSVHeaderLocation {
	case "":
		if c.ManifestType == "ATHENA_DATA" {
			return failf("the CSV files of an Athena UNLOAD query have no header row; give a CSVHeaderLocation of GIVEN and CSVHeaders, the names of the columns")
		}
		return failf("InputType CSV needs a CSVHeaderLocation of FIRST_ROW or GIVEN")
	case "GIVEN":
		if len(c.CSVHeaders) == 0 {
			return failf("CSVHeaderLocation GIVEN needs CSVHeaders, the names of the columns")
		}
		return checkHeader(c.CSVHeaders)
	}
	return nil
}

func checkHeader(names []string) error {
	size := len(names) - 1
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return &Error{Cause: causeDuplicateHeaders}
		}
		seen[name] = true
		size += len(name)
	}
	if size > MaxHeaderBytes {
		return failf("the CSV header is %d bytes long, at most %d (10 KiB) are allowed; shorten the column names", size,
			MaxHeaderBytes)
	}
	return nil
}
