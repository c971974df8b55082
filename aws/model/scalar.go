package model

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithydocument "github.com/aws/smithy-go/document"

	"stepback/jsonvalue"
)

// maxSeconds is the largest distance of a timestamp from 1970 in seconds: about 30,000 years.
const maxSeconds = 1e12

// OfTime returns the document of a timestamp: the number of seconds since 1970, with as many decimals as needed.
func OfTime(t time.Time) jsonvalue.Value {
	nanos := t.Nanosecond()
	if nanos == 0 {
		return jsonvalue.OfInt(t.Unix())
	}
	seconds, sign := t.Unix(), ""
	if seconds < 0 { // the nanoseconds count upwards
		seconds, nanos, sign = -seconds-1, int(time.Second)-nanos, "-"
	}
	return jsonvalue.OfNumberText(strings.TrimRight(fmt.Sprintf("%s%d.%09d", sign, seconds, nanos), "0"))
}

// TimeOf decodes the document of a timestamp.
func TimeOf(v jsonvalue.Value) (time.Time, error) {
	if v.Kind() != jsonvalue.Number {
		return time.Time{}, errors.New("expected a timestamp in seconds, got " + v.Kind().WithArticle())
	}
	if i, ok := v.Int(); ok && i < maxSeconds && i > -maxSeconds {
		return time.Unix(i, 0).UTC(), nil
	}
	f := v.Float()
	if math.Abs(f) >= maxSeconds {
		return time.Time{}, errors.New("the timestamp " + v.Text() + " is out of range")
	}
	if t, ok := decimalTime(v.Text()); ok {
		return t, nil
	}
	const nano = 1e9 // written with an exponent
	return time.Unix(int64(math.Floor(f)), int64((f-math.Floor(f))*nano)).UTC(), nil
}

// decimalTime parses a number of seconds with up to nine decimals.
func decimalTime(text string) (time.Time, bool) {
	if strings.ContainsAny(text, "eE") {
		return time.Time{}, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	const digits = 9
	nanos, err := strconv.ParseInt((fraction + "000000000")[:digits], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	return time.Unix(seconds, nanos).UTC(), true
}

// OfBlob returns the document of a blob.
func OfBlob(b []byte) jsonvalue.Value {
	return jsonvalue.OfString(base64.StdEncoding.EncodeToString(b))
}

// BlobOf decodes the document of a blob.
func BlobOf(v jsonvalue.Value) ([]byte, error) {
	if v.Kind() != jsonvalue.String {
		return nil, errors.New("expected bytes in Base64, got " + v.Kind().WithArticle())
	}
	b, err := base64.StdEncoding.DecodeString(v.Text())
	if err != nil {
		return nil, errors.New("expected bytes in Base64: " + err.Error())
	}
	return b, nil
}

// floatOf decodes a number. A number that JSON cannot represent is given by its name.
func floatOf(v jsonvalue.Value) (float64, bool) {
	if v.Kind() == jsonvalue.Number {
		return v.Float(), true
	}
	switch v.Text() {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

func ofFloat(f float64, bits int) jsonvalue.Value {
	switch {
	case math.IsNaN(f):
		return jsonvalue.OfString("NaN")
	case math.IsInf(f, 1):
		return jsonvalue.OfString("Infinity")
	case math.IsInf(f, -1):
		return jsonvalue.OfString("-Infinity")
	}
	return jsonvalue.OfNumberText(strconv.FormatFloat(f, 'g', -1, bits))
}

// documentOf converts any JSON to a document that smithy-go can write.
func documentOf(v jsonvalue.Value) smithydocument.Value {
	return smithydocument.Opaque{Value: rawDocument(v.JSON())}
}

// rawDocument is the JSON text of a document.
type rawDocument string

// MarshalSmithyDocument implements document.Marshaler.
func (r rawDocument) MarshalSmithyDocument() ([]byte, error) { return []byte(r), nil }

// document reads any JSON. It sorts the members of objects by key, because smithy-go does not keep their order.
func (r *reader) document(schema *smithy.Schema) (jsonvalue.Value, error) {
	var d smithydocument.Value
	if err := r.in.ReadDocument(schema, &d); err != nil {
		return jsonvalue.Value{}, err
	}
	return fromDocument(d)
}

func fromDocument(d any) (jsonvalue.Value, error) {
	switch x := d.(type) {
	case nil, smithydocument.Null:
		return jsonvalue.Value{}, nil
	case smithydocument.Opaque:
		return fromDocument(x.Value)
	case bool:
		return jsonvalue.OfBool(x), nil
	case smithydocument.Boolean:
		return jsonvalue.OfBool(bool(x)), nil
	case string:
		return jsonvalue.OfString(x), nil
	case smithydocument.String:
		return jsonvalue.OfString(string(x)), nil
	case json.Number:
		return jsonvalue.OfNumberText(x.String()), nil
	case smithydocument.Number:
		return jsonvalue.OfNumberText(string(x)), nil
	case float64:
		return ofFloat(x, 64), nil
	case int64:
		return jsonvalue.OfInt(x), nil
	case []any:
		return fromList(x)
	case smithydocument.List:
		return fromList(x)
	case map[string]any:
		return fromMap(x)
	case smithydocument.Map:
		return fromMap(x)
	}
	return jsonvalue.Value{}, fmt.Errorf("a document holds a %T", d)
}

func fromList[T any](list []T) (jsonvalue.Value, error) {
	elements := make([]jsonvalue.Value, len(list))
	for i, e := range list {
		v, err := fromDocument(e)
		if err != nil {
			return v, err
		}
		elements[i] = v
	}
	return jsonvalue.OfArray(elements), nil
}

func fromMap[T any](m map[string]T) (jsonvalue.Value, error) {
	entries := make(map[string]jsonvalue.Value, len(m))
	for key, e := range m {
		v, err := fromDocument(e)
		if err != nil {
			return v, err
		}
		entries[key] = v
	}
	return sorted(entries), nil
}

// sorted returns an object with its keys in order.
func sorted(entries map[string]jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(len(entries))
	for _, key := range slices.SortedFunc(maps.Keys(entries), jsonvalue.CompareUTF16) {
		b.Set(key, entries[key])
	}
	return b.Value()
}
