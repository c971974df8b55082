package asl_test

import (
	"strings"
	"testing"

	"stepback/asl"
)

// inMap wraps the members of a Map state in a machine; they are on the second line.
func inMap(config, members string) string {
	return `{"StartAt": "X", "States": {"X": {"Type": "Map", "End": true,
` + members + `,
"ItemProcessor": {"ProcessorConfig": ` + config + `, "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}}}}`
}

const (
	inline      = `{"Mode": "INLINE"}`
	distributed = `{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}`
)

func TestMap(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{
			"no processor", inState(`"Type": "Map", "End": true`),
			[]string{"2:1 " + schema + "This object should have only one of the following fields: [ItemProcessor, Iterator] @ /States/X"},
		},
		{
			"no type of the children", inMap(`{"Mode": "DISTRIBUTED"}`, `"Label": "a"`),
			[]string{"3:19 " + schema + "These fields are required: [ExecutionType] @ /States/X/ItemProcessor/ProcessorConfig"},
		},
		{
			"type of no children", inMap(`{"Mode": "INLINE", "ExecutionType": "EXPRESS"}`, `"Comment": "a"`),
			[]string{"3:57 " + schema + "Field 'ExecutionType' is not supported @ /States/X/ItemProcessor/ProcessorConfig"},
		},
		{
			"numbers", inMap(distributed,
				`"MaxConcurrency": -1, "ToleratedFailureCount": "1", "ToleratedFailurePercentage": 100.5`),
			[]string{
				"2:19 " + schema + "Minimum value is 0 @ /States/X/MaxConcurrency",
				"2:48 " + schema + "Expected value of type Integer @ /States/X/ToleratedFailureCount",
				"2:83 " + schema + "Maximum value is 100.0 @ /States/X/ToleratedFailurePercentage",
			},
		},
		{
			"inline with a batcher", inMap(inline, `"ItemBatcher": {"MaxItemsPerBatch": 1}`),
			[]string{"2:1 " + schema + "Field 'ItemBatcher' is not supported @ /States/X"},
		},
		{"empty label", inMap(distributed, `"Label": ""`),
			[]string{"2:10 ERROR INVALID_LABEL_NAME Label cannot be empty @ /States/X/Label"}},
		{"label with a blank", inMap(distributed, `"Label": "a b"`),
			[]string{"2:10 ERROR INVALID_LABEL_NAME Label contains invalid characters @ /States/X/Label"}},
		{
			"long label", inMap(distributed, `"Label": "`+strings.Repeat("l", 41)+`"`),
			[]string{"2:10 ERROR INVALID_LABEL_NAME Label '" + strings.Repeat("l", 41) +
				"' exceeds the 40-character limit allowed by the service @ /States/X/Label"},
		},
		{
			"selector twice", inMap(inline, `"ItemSelector": {}, "Parameters": {}`),
			[]string{"2:21 " + schema + "There should only be one of the following fields: [ItemSelector, Parameters] @ /States/X"},
		},
		{
			"variable of an outer scope", `{"StartAt": "A", "States": {
"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"},
"M": {"Type": "Map", "End": true, "Assign": {"y": 1}, "Iterator": {"StartAt": "B", "States": {
"B": {"Type": "Pass", "Assign": {"x.$": "$", "y": 1}, "End": true}}}}}}`,
			[]string{"4:34 " + schema + "Variable 'x' is already assigned in an outer scope @ /States/M/Iterator/States/B/Assign"},
		},
	})
}

func TestItemReader(t *testing.T) {
	t.Parallel()
	const object = `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "ReaderConfig": `
	const at = "/States/X/ItemReader/ReaderConfig"
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"CSV", inMap(distributed, object+
			`{"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"], "CSVDelimiter": "TAB", "MaxItems": 0}}`), nil},
		{"JSON", inMap(distributed, object+`{"InputType": "JSON", "ItemsPointer": "/a/b", "MaxItemsPath": "$.m"}}`),
			nil},
		{"inventory", inMap(distributed, object+`{"ManifestType": "S3_INVENTORY"}}`), nil},
		{"inventory with headers", inMap(distributed,
			object+`{"InputType": "MANIFEST", "CSVDelimiter": "COMMA", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"]}}`), nil},
		{"Parquet", inMap(distributed, object+`{"InputType": "PARQUET"}}`), nil},
		{"Athena, as documented", inMap(distributed, object+`{"ManifestType": "ATHENA_DATA", "InputType": "CSV"}}`),
			nil},
		{"listing", inMap(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2", "Parameters": {"Bucket": "b"}}`), nil},
		{
			"resource and parameters", inMap(distributed,
				`"ItemReader": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {}}`),
			[]string{
				"2:28 " + schema + "The field 'Resource' does not match any of the allowed values @ /States/X/ItemReader/Resource",
				"2:61 " + schema + "The field 'Bucket' is required but was missing @ /States/X/ItemReader/Parameters",
			},
		},
		{
			"object without key and config",
			inMap(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b"}}`),
			[]string{
				"2:61 " + schema + "The field 'Key' is required but was missing @ /States/X/ItemReader/Parameters",
				"2:1 " + schema + "These fields are required: [ReaderConfig] @ /States/X/ItemReader",
			},
		},
		{"no input type", inMap(distributed, object+`{}}`),
			[]string{"2:108 " + schema + "These fields are required: [InputType] @ " + at}},
		{"no header location", inMap(distributed, object+`{"InputType": "CSV"}}`),
			[]string{"2:108 " + schema + "The field 'CSVHeaderLocation' is required @ " + at}},
		{
			"headers missing", inMap(distributed, object+`{"InputType": "CSV", "CSVHeaderLocation": "GIVEN"}}`),
			[]string{"2:108 " + schema + "These fields are required: [CSVHeaders] @ " + at},
		},
		{
			"headers twice", inMap(distributed,
				object+`{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "CSVHeaders": ["a"]}}`),
			[]string{"2:179 " + schema + "Field 'CSVHeaders' is not supported @ " + at},
		},
		{
			"CSV fields for JSON", inMap(distributed,
				object+`{"InputType": "JSON", "CSVHeaderLocation": "FIRST_ROW", "ItemsPointer": "a", "MaxItems": 100000001}}`),
			[]string{
				"2:213 " + schema + "Maximum value is 100000000 @ " + at + "/MaxItems",
				"2:146 " + schema + "Field 'CSVHeaderLocation' is not supported @ " + at,
				"2:196 " + schema + "Value is not a valid JSON Pointer @ " + at + "/ItemsPointer",
			},
		},
	})
}

func TestBatcherAndWriter(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{
			"no limit", inMap(distributed, `"ItemBatcher": {"BatchInput": {"a.$": "$.b"}}`),
			[]string{"2:1 " + schema + "At least one of these fields is required: [MaxItemsPerBatch, MaxInputBytesPerBatch] @ /States/X/ItemBatcher"},
		},
		{
			"bounds", inMap(distributed, `"ItemBatcher": {"MaxItemsPerBatch": 0, "MaxInputBytesPerBatch": 262145}`),
			[]string{
				"2:37 " + schema + "Minimum value is 1 @ /States/X/ItemBatcher/MaxItemsPerBatch",
				"2:65 " + schema + "Maximum value is 262144 @ /States/X/ItemBatcher/MaxInputBytesPerBatch",
			},
		},
		{"config alone", inMap(distributed,
			`"ResultWriter": {"WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSONL"}}`), nil},
		{"nothing", inMap(distributed, `"ResultWriter": {}`),
			[]string{"2:1 " + schema + "These fields are required: [Resource, Parameters] @ /States/X/ResultWriter"}},
		{
			"resource alone", inMap(distributed, `"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject"}`),
			[]string{"2:1 " + schema + "These fields are required: [Parameters] @ /States/X/ResultWriter"},
		},
		{
			"transformation", inMap(distributed, `"ResultWriter": {"WriterConfig": {"Transformation": "COMPACTED"}}`),
			[]string{"2:53 " + schema + "Value should be one of the following: [NONE, COMPACT, FLATTEN] @ /States/X/ResultWriter/WriterConfig/Transformation"},
		},
	})
}
