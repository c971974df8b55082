package partiql_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
	"stepback/local/services/dynamodb/partiql"
)

// written formats a statement in one line, with the placeholders of its expressions replaced.
func written(s *partiql.Statement) string {
	e := &partiql.Expressions{}
	text := fmt.Sprintf("%s %s", s.Verb, s.Table)
	if s.Index != "" {
		text += "." + s.Index
	}
	for _, p := range s.Paths {
		text += " show " + e.Path(p)
	}
	if s.Item != nil {
		text += " item " + string(s.Item.AppendJSON(nil))
	}
	if u := e.Update(s); u != "" {
		text += " do " + u
	}
	if w := e.All(s.Where); w != "" {
		text += " where " + w
	}
	if s.Order != "" {
		text += fmt.Sprintf(" by %s %t", s.Order, s.Descending)
	}
	if s.Returning != "" {
		text += " returning " + s.Returning
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(e.Names))) {
		text = strings.ReplaceAll(text, name, e.Names[name])
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(e.Values))) {
		text = strings.ReplaceAll(text, name, string(e.Values[name].AppendJSON(nil)))
	}
	return text
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`SELECT * FROM t`:                                                                                 `SELECT t`,
		"-- all\nSELECT * -- of t\nFROM /* t */ t":                                                        `SELECT t`,
		`SELECT * FROM t WHERE a = 1 /* '-- */`:                                                           `SELECT t where a = {"N":"1"}`,
		`SELECT * FROM t WHERE a = '--' -- end`:                                                           `SELECT t where a = {"S":"--"}`,
		`select a, b.c[2] from "my table"."by-x";`:                                                        `SELECT my table.by-x show a show b.c[2]`,
		`SELECT * FROM t WHERE pk = 'it''s' AND sk >= 1.50 ORDER BY sk DESC`:                              `SELECT t where pk = {"S":"it's"} AND sk >= {"N":"1.5"} by sk true`,
		`SELECT * FROM t WHERE a = ? OR NOT (b != ? AND "c" < -2)`:                                        `SELECT t where (a = {"S":"one"} OR (NOT (b <> {"N":"2"} AND c < {"N":"-2"})))`,
		`SELECT * FROM t WHERE a IN ['x', ?] AND b BETWEEN ? AND 9`:                                       `SELECT t where a IN ({"S":"x"}, {"S":"one"}) AND b BETWEEN {"N":"2"} AND {"N":"9"}`,
		`SELECT * FROM t WHERE begins_with(a, ?) AND size(b) > ? AND contains("c", 'x')`:                  `SELECT t where begins_with(a, {"S":"one"}) AND size(b) > {"N":"2"} AND contains(c, {"S":"x"})`,
		`SELECT * FROM t WHERE a IS MISSING AND b IS NOT MISSING AND c IS NULL AND x = ? AND y = ?`:       `SELECT t where attribute_not_exists(a) AND (NOT attribute_not_exists(b)) AND attribute_type(c, {"S":"NULL"}) AND x = {"S":"one"} AND y = {"N":"2"}`,
		`INSERT INTO t VALUE {'pk': ?, 'n': ?, 'l': [1, true, null], 's': <<'b', 'a'>>, 'm': {"x": 'y'}}`: `INSERT t item {"l":{"L":[{"N":"1"},{"BOOL":true},{"NULL":true}]},"m":{"M":{"x":{"S":"y"}}},"n":{"N":"2"},"pk":{"S":"one"},"s":{"SS":["a","b"]}}`,
		`UPDATE t SET a = ?, b.c = b.c + ? SET d = list_append(d, ['x']) REMOVE e[1] WHERE pk = 'k'`:      `UPDATE t do SET a = {"S":"one"}, b.c = b.c + {"N":"2"}, d = list_append(d, {"L":[{"S":"x"}]}) REMOVE e[1] where pk = {"S":"k"}`,
		`UPDATE t SET a = set_add(a, <<'x'>>) SET b = set_delete(b, <<1>>) WHERE k=1 RETURNING ALL NEW *`: `UPDATE t do ADD a {"SS":["x"]} DELETE b {"NS":["1"]} where k = {"N":"1"} returning ALL_NEW`,
		`DELETE FROM t WHERE pk = 'a' RETURNING MODIFIED OLD *`:                                           `DELETE t where pk = {"S":"a"} returning UPDATED_OLD`,
		`EXISTS(SELECT * FROM t WHERE pk = 'a' AND n > 1)`:                                                `EXISTS t where pk = {"S":"a"} AND n > {"N":"1"}`,
	} {
		var params []item.Value
		if strings.Contains(text, "?") {
			params = []item.Value{item.String("one"), {Kind: item.KindNumber, Text: "2"}}[:min(2, strings.Count(text, "?"))]
		}
		s, err := partiql.Parse(text, params)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := written(s); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const malformed = "Statement wasn't well formed, can't be processed: "
	for text, want := range map[string]string{
		"":                                                  malformed + "Unexpected keyword",
		"DROP TABLE t":                                      malformed + "Unexpected keyword",
		"SELECT * FROM":                                     malformed + "Expected identifier",
		"SELECT * FROM t WHERE":                             malformed + "Expected a value",
		"SELECT * FROM t WHERE a":                           malformed + "Expected a condition",
		"SELECT * FROM t WHERE a = 'x":                      malformed + "Unexpected end of a quoted text",
		"SELECT * FROM t GROUP BY a":                        malformed + "Unexpected token after expression",
		"SELECT * FROM t WHERE nope(a) = 1":                 malformed + "Unsupported function: nope",
		"SELECT * FROM t WHERE size(a, b) = 1":              malformed + "Unexpected number of arguments of size",
		"INSERT INTO t VALUE 5":                             malformed + "Expected a tuple",
		"INSERT INTO t VALUE {'a': 1, 'a': 2}":              malformed + "Duplicate attribute: a",
		"INSERT INTO t VALUE {'a': <<1, 'b'>>}":             malformed + "A set has elements of one type: string, number or binary",
		"UPDATE t WHERE a = 1":                              malformed + "Expected SET or REMOVE",
		"SELECT * FROM t WHERE a = ?":                       "Number of parameters in request and statement don't match.",
		"SELECT * FROM t WHERE " + strings.Repeat("(", 100): malformed + "Statement is nested too deeply",
	} {
		if _, err := partiql.Parse(text, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := partiql.Parse("SELECT * FROM t", []item.Value{item.String("x")}); err == nil {
		t.Error("a parameter too many is not refused")
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	s, err := partiql.Parse("DELETE FROM t WHERE sk = 2 AND pk = 'a' AND n > 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	key, rest := s.Split([]string{"pk", "sk"})
	if string(key.AppendJSON(nil)) != `{"pk":{"S":"a"},"sk":{"N":"2"}}` || len(rest) != 1 || rest[0].Op != ">" {
		t.Errorf("key %v, rest %v", key, rest)
	}
	if key, _ := s.Split([]string{"pk", "other"}); key != nil {
		t.Errorf("key %v of half a key", key)
	}
}

// FuzzParse checks that every statement that can be parsed can be converted to expressions that DynamoDB's own parser
// accepts.
func FuzzParse(f *testing.F) {
	f.Add("SELECT a.b[1] FROM t WHERE pk = 'a' AND n BETWEEN 1 AND 2 OR contains(x, 'y') AND z IS NOT MISSING")
	f.Add("UPDATE t SET a = b + 1 REMOVE c[0] WHERE pk = <<1>>")
	f.Add("INSERT INTO t VALUE {'a': [1, {'b': null}]}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := partiql.Parse(text, nil)
		if err != nil {
			var known item.Invalid
			if !errors.As(err, &known) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		e := &partiql.Expressions{}
		where := e.All(s.Where)
		params, err := expression.NewParameters(e.Names, e.Values)
		if err != nil || where == "" {
			return
		}
		if _, err := expression.ParseCondition("FilterExpression", where, params); err != nil &&
			strings.Contains(err.Error(), "Syntax error") {
			t.Errorf("%s became %s: %v", text, where, err)
		}
	})
}
