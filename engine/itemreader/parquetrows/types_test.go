package parquetrows

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
)

func TestTypes(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 2, 29, 23, 59, 58, 120_000_000, time.UTC)
	type row struct {
		Bool      bool             `parquet:"bool"`
		Int8      int8             `parquet:"int8"`
		Int32     int32            `parquet:"int32"`
		Int64     int64            `parquet:"int64"`
		Uint32    uint32           `parquet:"uint32"`
		Uint64    uint64           `parquet:"uint64"`
		Float     float32          `parquet:"float"`
		Double    float64          `parquet:"double"`
		NaN       float64          `parquet:"nan"`
		Text      string           `parquet:"text"`
		Enum      string           `parquet:"enum,enum"`
		JSON      string           `parquet:"json,json"`
		Bytes     []byte           `parquet:"bytes"`
		Binary    []byte           `parquet:"binary"`
		UUID      uuid.UUID        `parquet:"uuid,uuid"`
		Date      int32            `parquet:"date,date"`
		Time      int32            `parquet:"time,time(millisecond)"`
		Millis    int64            `parquet:"millis,timestamp(millisecond)"`
		Micros    int64            `parquet:"micros,timestamp(microsecond)"`
		Nanos     time.Time        `parquet:"nanos,timestamp(nanosecond)"`
		Local     int64            `parquet:"local,timestamp(millisecond:local)"`
		Int96     deprecated.Int96 `parquet:"int96"`
		Decimal32 int32            `parquet:"decimal32,decimal(2:9)"`
		Decimal64 int64            `parquet:"decimal64,decimal(0:18)"`
		Fixed     [4]byte          `parquet:"fixed,decimal(4:9)"`
		Missing   *string          `parquet:"missing"`
	}
	r := row{
		Bool: true, Int8: math.MinInt8, Int32: math.MinInt32, Int64: math.MaxInt64, Uint32: math.MaxUint32,
		Uint64: math.MaxUint64,
		Float:  0.1, Double: 1e10, NaN: math.NaN(), Text: "日本\n\"", Enum: "RED", JSON: `{"a":1}`,
		Bytes:  []byte("old text"),
		Binary: []byte{0xFF, 0}, UUID: uuid.MustParse("0189f0a4-95e8-7c3e-b1a5-0f2d9a7f0001"), Date: -1,
		Time:   3_723_004,
		Millis: at.UnixMilli(), Micros: -1, Nanos: at.Add(3), Local: at.UnixMilli(),
		Int96:     deprecated.Int96{1_000_000_000, 0, 2_440_589},
		Decimal32: -5, Decimal64: 12, Fixed: [4]byte{0xFF, 0xFF, 0xFF, 0xFE},
	}
	wantRows(t, file(t, 0, []row{r}), `{"bool":true,"int8":-128,"int32":-2147483648,"int64":9223372036854775807,"uint32":4294967295,`+
		`"uint64":18446744073709551615,"float":0.1,"double":1.0E10,"nan":null,"text":"日本\n\"","enum":"RED","json":"{\"a\":1}",`+
		`"bytes":"old text","binary":"/wA=","uuid":"0189f0a4-95e8-7c3e-b1a5-0f2d9a7f0001","date":"1969-12-31","time":"01:02:03.004",`+
		`"millis":"2024-02-29T23:59:58.12Z","micros":"1969-12-31T23:59:59.999999Z","nanos":"2024-02-29T23:59:58.120000003Z",`+
		`"local":"2024-02-29T23:59:58.12","int96":"1970-01-02T00:00:01Z","decimal32":-0.05,"decimal64":12,"fixed":-0.0002,"missing":null}`+"\n")
}

func TestNesting(t *testing.T) {
	t.Parallel()
	type point struct {
		X int32  `parquet:"x"`
		Y *int32 `parquet:"y"`
	}
	type row struct {
		Group  point            `parquet:"group"`
		Maybe  *point           `parquet:"maybe"`
		List   []string         `parquet:"list,list"`
		Bare   []int32          `parquet:"bare"`
		Points []point          `parquet:"points"`
		Map    map[string]int32 `parquet:"map"`
		Keys   map[int32]point  `parquet:"keys"`
		Lists  []struct {
			Inner []int32 `parquet:"inner,list"`
		} `parquet:"lists,list"`
	}
	two := int32(2)
	full := row{
		Group: point{1, &two}, Maybe: &point{3, nil}, List: []string{"a", "b"}, Bare: []int32{1, 2, 3},
		Points: []point{{1, nil}, {2, &two}},
		Map:    map[string]int32{"k": 1}, Keys: map[int32]point{7: {1, &two}},
	}
	full.Lists = append(full.Lists, struct {
		Inner []int32 `parquet:"inner,list"`
	}{[]int32{1, 2}}, struct {
		Inner []int32 `parquet:"inner,list"`
	}{}, struct {
		Inner []int32 `parquet:"inner,list"`
	}{[]int32{3}})
	wantRows(t, file(t, 0, []row{{}, full, {}}),
		`{"group":{"x":0,"y":null},"maybe":null,"list":[],"bare":[],"points":[],"map":{},"keys":{},"lists":[]}`+"\n"+
			`{"group":{"x":1,"y":2},"maybe":{"x":3,"y":null},"list":["a","b"],"bare":[1,2,3],"points":[{"x":1,"y":null},{"x":2,"y":2}],`+
			`"map":{"k":1},"keys":{"7":{"x":1,"y":2}},"lists":[{"inner":[1,2]},{"inner":[]},{"inner":[3]}]}`+"\n"+
			`{"group":{"x":0,"y":null},"maybe":null,"list":[],"bare":[],"points":[],"map":{},"keys":{},"lists":[]}`+
			"\n")
}

// TestOlderLists tests the forms in which lists were written before they were standardised.
func TestOlderLists(t *testing.T) {
	t.Parallel()
	leaf := func() parquet.Node { return parquet.Int(32) }
	for name, node := range map[string]parquet.Node{
		"bare element":  parquet.Group{"element": parquet.Repeated(leaf())},
		"wrapped":       parquet.Group{"list": parquet.Repeated(parquet.Group{"element": leaf()})},
		"other wrapper": parquet.Group{"bag": parquet.Repeated(parquet.Group{"array_element": leaf()})},
	} {
		wantList(t, name, node, `{"l":[1,2]}`)
	}
	wantList(t, "array of groups", parquet.Group{"array": parquet.Repeated(parquet.Group{"x": leaf()})},
		`{"l":[{"x":1},{"x":2}]}`)
	wantList(t, "tuple of groups", parquet.Group{"l_tuple": parquet.Repeated(parquet.Group{"x": leaf()})},
		`{"l":[{"x":1},{"x":2}]}`)
}

// listOf is a group that is annotated as a list, whatever its content.
type listOf struct{ parquet.Group }

func (listOf) Type() parquet.Type { return parquet.List(parquet.Int(32)).Type() }

// wantList writes one row whose only column, below the list l, has the values 1 and 2, and checks the result.
func wantList(t *testing.T, name string, list parquet.Node, want string) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("root", parquet.Group{"l": listOf{list.(parquet.Group)}}))
	row := parquet.Row{parquet.ValueOf(int32(1)).Level(0, 1, 0), parquet.ValueOf(int32(2)).Level(1, 1, 0)}
	if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := all(b.Bytes())
	if err != nil || got != want+"\n" {
		t.Errorf("%s: got %s, %v", name, got, err)
	}
}
