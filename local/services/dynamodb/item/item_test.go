package item_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/item"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "1.0": "1", "-0": "0", "0.00": "0", "1e3": "1000", "1E-3": "0.001", "12.50": "12.5", "+7": "7", ".5": "0.5",
		"5.": "5", "-00120.0340": "-120.034", "1e125": "1" + strings.Repeat("0", 125),
		"1e-130":                                  "0." + strings.Repeat("0", 129) + "1",
		"12345678901234567890123456789012345678":  "12345678901234567890123456789012345678",
		"123456789012345678901234567890123456789": "Attempting to store more than 38 significant digits in a Number",
		"1e126":                  "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"1e99999999999999999999": "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"1e-131":                 "Number underflow. Attempting to store a number with magnitude smaller than supported range",
		"":                       "The parameter cannot be converted to a numeric value",
		"abc":                    "The parameter cannot be converted to a numeric value: abc",
		"1e":                     "The parameter cannot be converted to a numeric value: 1e",
		"-":                      "The parameter cannot be converted to a numeric value: -",
		"0x10":                   "The parameter cannot be converted to a numeric value: 0x10",
	} {
		v, err := item.Number(text)
		got := v.Text
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// number draws a valid DynamoDB number, and returns its exact value too.
func number(t *rapid.T, label string) (item.Value, *big.Rat) {
	digits := rapid.StringMatching(`[1-9][0-9]{0,18}`).Draw(t, label)
	power := rapid.IntRange(-60, 60).Draw(t, label+" power")
	sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, label+" sign")
	if rapid.IntRange(0, 9).Draw(t, label+" zero") == 0 {
		digits = "0"
	}
	r, ok := new(big.Rat).SetString(sign + digits + "e" + big.NewInt(int64(power)).String())
	v, err := item.Number(sign + digits + "e" + big.NewInt(int64(power)).String())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return v, r
}

// TestNumbersAgainstRationals compares order, sums and key order with exact arithmetic.
func TestNumbersAgainstRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, x := number(t, "a")
		b, y := number(t, "b")
		if got := item.Compare(a, b); got != x.Cmp(y) {
			t.Errorf("%s and %s: %d", a.Text, b.Text, got)
		}
		if got := bytes.Compare(item.AppendKey(nil, a), item.AppendKey(nil, b)); got != x.Cmp(y) {
			t.Errorf("keys of %s and %s: %d", a.Text, b.Text, got)
		}
		sum, err := item.Add(a, b, false)
		if err != nil {
			return // more than 38 digits
		}
		got, ok := new(big.Rat).SetString(sum.Text)
		if !ok || got.Cmp(new(big.Rat).Add(x, y)) != 0 {
			t.Errorf("%s + %s = %s", a.Text, b.Text, sum.Text)
		}
		if back, err := item.Add(sum, b, true); err == nil && back.Text != a.Text {
			t.Errorf("%s - %s = %s", sum.Text, b.Text, back.Text)
		}
	})
}

// TestKeysOfTexts checks that keys sort like their texts, even with zero bytes in them, and whatever follows.
func TestKeysOfTexts(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 'a', 'b', 0xff, 0x10ffff}), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		x, y := item.AppendKey(nil, item.String(a)), item.AppendKey(nil, item.String(b))
		if bytes.Compare(x, y) != strings.Compare(a, b) {
			t.Errorf("%q %q", a, b)
		}
		if a != b && bytes.HasPrefix(x, y) {
			t.Errorf("the key of %q begins with that of %q", a, b)
		}
	})
}

func value(depth int) *rapid.Generator[item.Value] {
	return rapid.Custom(func(t *rapid.T) item.Value {
		kinds := 5
		if depth > 0 {
			kinds = 10
		}
		kind := item.Kind(rapid.IntRange(1, kinds).Draw(t, "kind"))
		v := item.Value{Kind: kind}
		switch kind {
		case item.KindString, item.KindBinary:
			v.Text = rapid.String().Draw(t, "text")
		case item.KindNumber:
			v, _ = number(t, "number")
		case item.KindBool:
			v.Bool = rapid.Bool().Draw(t, "bool")
		case item.KindList:
			v.List = rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
		case item.KindMap:
			v.Map = rapid.MapOfN(rapid.String(), value(depth-1), 0, 3).Draw(t, "map")
		case item.KindStringSet, item.KindNumberSet, item.KindBinarySet:
			var all []item.Value
			for range rapid.IntRange(1, 3).Draw(t, "size") {
				e := item.Value{Kind: kind.Element(), Text: rapid.StringMatching(`[a-z]+`).Draw(t, "element")}
				if kind == item.KindNumberSet {
					e, _ = number(t, "element")
				}
				all = append(all, e)
			}
			v = item.Set(kind, all)
		default:
		}
		return v
	})
}

// TestFormsKeepItems checks that the compact form and JSON both reproduce the original item.
func TestFormsKeepItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		made := item.Item(rapid.MapOfN(rapid.StringMatching(`.+`), value(2), 0, 4).Draw(t, "item")) // no name is empty
		got, err := item.Decode(made.Append(nil))
		if err != nil || !item.EqualItems(got, made) {
			t.Fatalf("%v became %v: %v", made, got, err)
		}
		v, err := jsonvalue.Parse(string(made.AppendJSON(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err = item.AttributesFromJSON(v); err != nil || !item.EqualItems(got, made) {
			t.Fatalf("%v became %v: %v", made, got, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(item.Item{"a": item.String("b"), "c": {Kind: item.KindList, List: []item.Value{{Kind: item.KindNull}}}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := item.Decode(b)
		if err != nil {
			return
		}
		if again, err := item.Decode(i.Append(nil)); err != nil || !item.EqualItems(again, i) {
			t.Errorf("%v became %v: %v", i, again, err)
		}
	})
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"S":"a","N":"1"}`:        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
		`{"NULL":false}`:           "One or more parameter values were invalid: Null attribute value types must have the value of true",
		`{"SS":[]}`:                "One or more parameter values were invalid: An string set  may not be empty",
		`{"NS":[]}`:                "One or more parameter values were invalid: An number set  may not be empty",
		`{"BS":[]}`:                "One or more parameter values were invalid: Binary sets should not be empty",
		`{"SS":["a","a"]}`:         "One or more parameter values were invalid: Input collection [a, a] contains duplicates.",
		`{"NS":["1","1.0"]}`:       "Input collection contains duplicates",
		`{"SS":[""]}`:              "One or more parameter values were invalid: An string set may not have a empty string as a member",
		`{"L":[{"M":{"a":{}}}]}`:   "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"N":"1e3"}`:              `{"N":"1000"}`,
		`{"NS":["10","9","-1"]}`:   `{"NS":["-1","9","10"]}`,
		`{"M":{"b":{"B":"AAE="}}}`: `{"M":{"b":{"B":"AAE="}}}`,
		strings.Repeat(`{"L":[`, 31) + `{"S":"a"}` + strings.Repeat(`]}`, 31): strings.Repeat(`{"L":[`, 31) + `{"S":"a"}` + strings.Repeat(`]}`, 31),
		strings.Repeat(`{"L":[`, 32) + strings.Repeat(`]}`, 32):               strings.Repeat(`{"L":[`, 32) + strings.Repeat(`]}`, 32),
		strings.Repeat(`{"L":[`, 32) + `{"S":"a"}` + strings.Repeat(`]}`, 32): "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		strings.Repeat(`{"L":[`, 33) + strings.Repeat(`]}`, 33):               "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
	} {
		parsed, err := jsonvalue.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := item.FromJSON(parsed)
		got := string(v.AppendJSON(nil))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	i := item.Item{
		"pk": item.String("abc"), "n": {Kind: item.KindNumber, Text: "-123.4"}, "ok": {Kind: item.KindBool},
		"list": {Kind: item.KindList, List: []item.Value{item.String("é"), {Kind: item.KindNull}}},
	}
	if got, want := i.Size(), (2+3)+(1+4)+(2+1)+(4+3+(1+2)+(1+1)); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
