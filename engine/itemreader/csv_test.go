package itemreader

import (
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	t.Parallel()
	given := func(headers ...string) func(*Config) {
		return func(c *Config) { c.CSVHeaderLocation, c.CSVHeaders = "GIVEN", headers }
	}
	delimiter := func(name string) func(*Config) { return func(c *Config) { c.CSVDelimiter = name } }
	const recorded = "Value1,Value2,Value3\nValue4,Value5,Value6\n,,,\ntrue,1,'HelloWorld'\nNull,None,\n   \n"
	tests := []struct {
		name, text string
		change     func(*Config)
		want       string
	}{
		{"recorded: headers given", recorded, given("H1", "H2", "H3"),
			`[{"H1":"Value1","H2":"Value2","H3":"Value3"},{"H1":"Value4","H2":"Value5","H3":"Value6"},{"H1":"","H2":"","H3":""},` +
				`{"H1":"true","H2":"1","H3":"'HelloWorld'"},{"H1":"Null","H2":"None","H3":""},{"H1":"   ","H2":"","H3":""}]`},
		{"recorded: one header given, extra fields dropped", recorded, given("H1"),
			`[{"H1":"Value1"},{"H1":"Value4"},{"H1":""},{"H1":"true"},{"H1":"Null"},{"H1":"   "}]`},
		{"recorded: empty header name", "H1,\nValue4,Value5,Value6\n,,,\ntrue,1,'HelloWorld'\nNull,None,\n   \n", nil,
			`[{"H1":"Value4","":"Value5"},{"H1":"","":""},{"H1":"true","":"1"},{"H1":"Null","":"None"},{"H1":"   ","":""}]`},
		{"recorded: no final newline", "Col1,Col2,Col3\nValue1,Value2,Value3\nValue4,Value5,Value6", nil,
			`[{"Col1":"Value1","Col2":"Value2","Col3":"Value3"},{"Col1":"Value4","Col2":"Value5","Col3":"Value6"}]`},
		{"recorded: two items at most", "Col1,Col2\nValue1,Value2\nValue3,Value4\nValue5,Value6\nValue7,Value8\n",
			func(c *Config) { c.MaxItems = 2 },
			`[{"Col1":"Value1","Col2":"Value2"},{"Col1":"Value3","Col2":"Value4"}]`},
		{"recorded: more items allowed than the documented maximum", "a\n1\n",
			func(c *Config) { c.MaxItems = 100_000_001 },
			`[{"a":"1"}]`},
		{"pipe", "a|b\n1,5|2\n", delimiter("PIPE"), `[{"a":"1,5","b":"2"}]`},
		{"semicolon", "a;b\n1;2\n", delimiter("SEMICOLON"), `[{"a":"1","b":"2"}]`},
		{"space", "a b\n1 2\n", delimiter("SPACE"), `[{"a":"1","b":"2"}]`},
		{"tab", "a\tb\n1\t2\n", delimiter("TAB"), `[{"a":"1","b":"2"}]`},
		{"carriage returns", "a,b\r\n1,2\r\n\"3\",4\r\n5,\"6\"\r\n", nil,
			`[{"a":"1","b":"2"},{"a":"3","b":"4"},{"a":"5","b":"6"}]`},
		{"lone carriage return stays", "a,b\n1\r2,3\n", nil, `[{"a":"1\r2","b":"3"}]`},
		{"quoted carriage return stays", "a\n\"1\r\"\n", nil, `[{"a":"1\r"}]`},
		{"blank lines", "\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", nil, `[{"a":"1","b":"2"},{"a":"3","b":"4"}]`},
		{"an empty quoted field is no blank line", "a,b\n\"\"\n", nil, `[{"a":"","b":""}]`},
		{"byte order mark", "\ufeffa,b\n1,2\n", nil, `[{"a":"1","b":"2"}]`},
		{"tabs and other control characters", "a,b,c\n1\t2,\x01\n,x,3,\t\n", nil,
			`[{"a":"1\t2","b":"\u0001","c":""},{"a":"","b":"x","c":"3"}]`},
		{"NUL bytes", "a,b\n1\x00,\x00\n", nil, `[{"a":"1\u0000","b":"\u0000"}]`},
		{"Japanese", "ユーザーID,ログイン回数\n甲,3\n", nil, `[{"ユーザーID":"甲","ログイン回数":"3"}]`},
		{"quoted delimiter and newline", "a,b\n\"1,2\",\"x\ny\"\n", nil, `[{"a":"1,2","b":"x\ny"}]`},
		{"doubled quotes", "a\n\"say \"\"hi\"\"\"\n", nil, `[{"a":"say \"hi\""}]`},
		{"backslashes doubled", "path,size\nC:\\\\Program Files\\\\MyApp.exe,6534512\n", nil,
			`[{"path":"C:\\Program Files\\MyApp.exe","size":"6534512"}]`},
		{"backslash before the delimiter", "a,b\n1\\,2,3\n", nil, `[{"a":"1,2","b":"3"}]`},
		{"backslash before the configured delimiter only", "a|b\n1\\|2|3\\,4\n", delimiter("PIPE"),
			`[{"a":"1|2","b":"3,4"}]`},
		{"backslash before a pair of quotes", "a,b\n\\\"x\\\",y\n", nil, `[{"a":"\"x\"","b":"y"}]`},
		{"backslash vanishes", "a,b\n\\n\\t,x\\\n1,2\n", nil, `[{"a":"nt","b":"x"},{"a":"1","b":"2"}]`},
		{"backslash at the end", "a\nx\\", nil, `[{"a":"x"}]`},
		{"backslash in quotes", "a,b\n\"x\\\"y\\z\\\\\",1\n", nil, `[{"a":"x\"yz\\","b":"1"}]`},
		{"quote inside a field", "a,b\n5\" disk,2\n", nil, `[{"a":"5\" disk","b":"2"}]`},
		{"Developer Guide: the example",
			"abc,123,\"This string contains commas, a double quotation marks (\"\"), and a newline (\n)\"," +
				"{\"\"MyKey\"\":\"\"MyValue\"\"},\"[1,2,3]\"",
			given("MyLetters", "MyNumbers", "MyString", "MyObject", "MyArray"),
			`[{"MyLetters":"abc","MyNumbers":"123","MyString":"This string contains commas, a double quotation marks (\"), ` +
				`and a newline (\n)","MyObject":"{\"MyKey\":\"MyValue\"}","MyArray":"[1,2,3]"}]`},
		{"doubled quotes outside quotes", "a,b\nx\"\"y,\"z\"\"\"\"\"\n", nil, `[{"a":"x\"y","b":"z\"\""}]`},
		{"text behind the closing quote", "a,b\n\"x\"y,2\n", nil, `[{"a":"xy","b":"2"}]`},
		{"extra fields behind quotes dropped", "a\n\"x\",\"y\",z\nw\n", nil, `[{"a":"x"},{"a":"w"}]`},
		{"quoted header", "\"a,1\",b\n1,2\n", nil, `[{"a,1":"1","b":"2"}]`},
		{"header only", "a,b\n", nil, `[]`},
		{"empty", "", nil, `[]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := csvConfig()
			if test.change != nil {
				test.change(&cfg)
			}
			wantItems(t, memoryObjects{"f": test.text}, cfg, test.want)
		})
	}
}

func TestCSVFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		change     func(*Config)
		want       string
	}{
		{"recorded: duplicate headers given", "1,2\n", func(c *Config) {
			c.CSVHeaderLocation, c.CSVHeaders = "GIVEN", []string{"H1", "H1"}
		}, "CSV headers cannot contain duplicates."},
		{"duplicate headers in the first row", "a,b,a\n", nil, "CSV headers cannot contain duplicates."},
		{"no headers given", "", func(c *Config) { c.CSVHeaderLocation = "GIVEN" },
			"CSVHeaderLocation GIVEN needs CSVHeaders, the names of the columns"},
		{"long header", strings.Repeat("x", MaxHeaderBytes+1) + "\n", nil,
			"the CSV header is 10241 bytes long, at most 10240 (10 KiB) are allowed; shorten the column names"},
		{"10 MB line", "a\n1\n\n" + strings.Repeat("x", 10<<20) + "\n2\n", nil,
			"S3://data/f line 4: the item that starts here is larger " +
				"than 8 MB (8388608 bytes), the largest that a Map can read; split it"},
		{"10 MB in quotes", "a\n\"" + strings.Repeat("x\n", 5<<20) + "\"\n", nil,
			"S3://data/f line 2: the item that starts here is " +
				"larger than 8 MB (8388608 bytes), the largest that a Map can read; split it"},
		{"quote never closed", "a\n1\n\"2\n3\n", nil,
			"S3://data/f line 3: a quoted field that starts in this row is never closed; " +
				"add the closing quotation mark, or double a quotation mark that belongs to the text"},
		{"Shift_JIS", "a\n\"x\ny\"\n\x83\x86\x81\x5b\n", nil,
			"S3://data/f line 4, byte 8 (0x83) is not UTF-8 text; the ItemReader reads UTF-8 only, " +
				"convert the file (for example with iconv)"},
		{"a damaged byte in quotes", "a,b\n1,\"x\ny\xE4\xB8\"\n", nil,
			"S3://data/f line 3, byte 10 (0xE4) is not UTF-8 text; the ItemReader reads UTF-8 only, " +
				"convert the file (for example with iconv)"},
		{"cut off", "a\n\xE4\xB8", nil, "S3://data/f line 2, byte 2 (0xE4) is not UTF-8 text; the ItemReader reads UTF-8 only, " +
			"convert the file (for example with iconv)"},
		{"UTF-16", "\xff\xfea\x00\n\x00", nil, "S3://data/f is UTF-16 text; convert it to UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := csvConfig()
			if test.change != nil {
				test.change(&cfg)
			}
			wantCause(t, memoryObjects{"f": test.text}, cfg, test.want)
		})
	}
}

func TestLargestCSVItem(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("x", MaxItemBytes)
	wantItems(t, memoryObjects{"f": "a\n" + row + "\n1\n"}, csvConfig(), `[{"a":"`+row+`"},{"a":"1"}]`)
}
