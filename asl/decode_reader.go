package asl

import (
	"strings"

	"stepback/jsonvalue"
)

var maxItems = limits{min: 0, max: 100_000_000}

// reader decodes the ItemReader of a distributed Map.
func (d *decoder) reader(o object) *ItemReader {
	v, ok := o.get("ItemReader")
	if !ok {
		return nil
	}
	d.enter("ItemReader")
	defer d.leave()
	ro, ok := d.object(v, readerFields, o.language)
	if !ok {
		return nil
	}
	r := &ItemReader{Resource: ro.resource("s3:getObject", "s3:listObjectsV2")}
	r.Parameters = ro.location()
	d.readerBucket(ro, r)
	config, has := ro.get("ReaderConfig")
	if !has {
		if r.readsObject() {
			ro.require("ReaderConfig")
		}
		return r
	}
	d.enter("ReaderConfig")
	defer d.leave()
	if co, ok := d.object(config, readerConfig, o.language); ok {
		d.readerConfig(co, r)
	}
	return r
}

func (r *ItemReader) readsObject() bool { return strings.HasSuffix(r.Resource, ":s3:getObject") }

// resource decodes the Resource of a reader or writer, which must be one of the given S3 actions.
func (o object) resource(actions ...string) string {
	arn := o.str("Resource")
	if arn == "" {
		o.require("Resource")
		return ""
	}
	for _, a := range actions {
		if parts := strings.SplitN(arn, ":", 6); isARN(arn) && parts[2] == "states" && parts[5] == a {
			return arn
		}
	}
	o.d.enter("Resource")
	o.d.fail("The field 'Resource' does not match any of the allowed values").
		hint("arn:aws:states:::" + strings.Join(actions, " or arn:aws:states:::"))
	o.d.leave()
	return arn
}

// location decodes the bucket and key of a reader or writer: Parameters, or Arguments in JSONata.
func (o object) location() *jsonvalue.Value {
	if o.language == JSONata {
		return o.template("Arguments", 0)
	}
	return o.template("Parameters", 0)
}

func (o object) locationField() string {
	if o.language == JSONata {
		return "Arguments"
	}
	return "Parameters"
}

// readerBucket checks that the bucket is given and, if an object is read, its key.
func (d *decoder) readerBucket(o object, r *ItemReader) {
	if !o.require(o.locationField()) || r.Parameters.Kind() != jsonvalue.Object {
		return
	}
	d.enter(o.locationField())
	d.requireKey(*r.Parameters, "Bucket", o.language)
	if r.readsObject() {
		d.requireKey(*r.Parameters, "Key", o.language)
	}
	d.leave()
}

func (d *decoder) readerConfig(o object, r *ItemReader) {
	o.str("Comment")
	r.InputType = o.choice("InputType", "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST")
	r.Transformation = o.choice("Transformation", "NONE", "LOAD_AND_FLATTEN")
	r.ManifestType = o.choice("ManifestType", "ATHENA_DATA", "S3_INVENTORY")
	r.CSVDelimiter = o.choice("CSVDelimiter", "COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB")
	r.CSVHeaderLocation = o.choice("CSVHeaderLocation", "FIRST_ROW", "GIVEN")
	r.ItemsPointer = o.str("ItemsPointer")
	r.MaxItems = o.scalar("MaxItems", maxItems, referencePath)
	d.csvHeaders(o, r)
	d.inputType(o, r)
	d.csvConfig(o, r)
	if o.has("ItemsPointer") {
		d.itemsPointer(r)
	}
}

// inputType checks that InputType is given if there is content to read, and only then.
func (d *decoder) inputType(o object, r *ItemReader) {
	switch {
	case r.readsObject():
		if r.Transformation == "LOAD_AND_FLATTEN" {
			d.fail("Field 'Transformation' is not supported").onKey("Transformation").
				hint("LOAD_AND_FLATTEN is for s3:listObjectsV2, whose objects it reads")
		}
		if r.ManifestType != "S3_INVENTORY" {
			o.require("InputType")
		}
	case r.Resource == "":
	case r.Transformation == "LOAD_AND_FLATTEN":
		o.require("InputType")
	case o.has("InputType"):
		d.fail("Field 'InputType' is not supported").onKey("InputType").
			hint("a listing has no content to read, unless Transformation is LOAD_AND_FLATTEN")
	}
}

// csvConfig checks the fields that apply only to CSV, and to manifests because their data files may be CSV. The
// documented example of an Athena manifest of CSV files has none of these fields.
func (d *decoder) csvConfig(o object, r *ItemReader) {
	if r.InputType == "MANIFEST" {
		return
	}
	if r.InputType == "CSV" {
		if !o.has("CSVHeaderLocation") && r.ManifestType != "ATHENA_DATA" {
			d.fail("The field 'CSVHeaderLocation' is required").hint("FIRST_ROW, or GIVEN with CSVHeaders")
		}
		return
	}
	for _, key := range o.present([]string{"CSVHeaderLocation", "CSVHeaders", "CSVDelimiter"}) {
		d.fail("Field '%s' is not supported", key).onKey(key).hint(`only "InputType": "CSV" has it`)
	}
}

func (d *decoder) csvHeaders(o object, r *ItemReader) {
	o.each("CSVHeaders", func(_ int, v jsonvalue.Value) {
		if v.Kind() != jsonvalue.String {
			d.expect("String", v)
			return
		}
		r.CSVHeaders = append(r.CSVHeaders, v.Text())
	})
	switch {
	case r.CSVHeaderLocation == "GIVEN":
		if o.require("CSVHeaders") {
			o.notEmpty("CSVHeaders")
		}
	case r.InputType == "CSV" && o.has("CSVHeaders"):
		d.fail("Field 'CSVHeaders' is not supported").onKey("CSVHeaders").hint(`only "CSVHeaderLocation": "GIVEN" has it`)
	}
}

func (d *decoder) itemsPointer(r *ItemReader) {
	switch {
	case r.InputType != "JSON":
		d.fail("Field 'ItemsPointer' is not supported").onKey("ItemsPointer").hint(`only "InputType": "JSON" has it`)
	case r.ItemsPointer != "" && !strings.HasPrefix(r.ItemsPointer, "/"):
		d.enter("ItemsPointer")
		d.fail("Value is not a valid JSON Pointer").hint("a pointer such as /orders/items")
		d.leave()
	}
}
