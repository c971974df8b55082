package expression_test

import (
	"strings"
	"testing"

	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

func itemOf(t testing.TB, text string) item.Item {
	t.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	i, err := item.AttributesFromJSON(v)
	if err != nil {
		t.Fatal(text, err)
	}
	return i
}

func text(i item.Item) string { return string(i.AppendJSON(nil)) }

const (
	theItem = `{"a":{"N":"5"},"s":{"S":"hello"},"b":{"B":"AAEC"},"things":{"L":[{"N":"1"},{"S":"x"},{"L":[{"N":"7"}]}]},
		"m":{"M":{"k":{"S":"v"},"n":{"N":"2"}}},"ss":{"SS":["p","q"]},"ns":{"NS":["1","2"]},"no":{"NULL":true},"ok":{"BOOL":true}}`
	theValues = `{":five":{"N":"5.0"},":six":{"N":"6"},":four":{"N":"4"},":hel":{"S":"hel"},":S":{"S":"S"},":x":{"S":"x"},
		":p":{"S":"p"},":one":{"N":"1"},":list":{"L":[{"N":"9"}]},":set":{"SS":["q","r"]},":bool":{"BOOL":true},":v":{"S":"v"},
		":FOO":{"S":"FOO"},":map":{"M":{}},":seven":{"N":"7"}}`
)

var theNames = map[string]string{"#a": "a", "#m": "m", "#k": "k", "#status": "status", "#l": "things"}

func params(t testing.TB) *expression.Parameters {
	t.Helper()
	p, err := expression.NewParameters(theNames, itemOf(t, theValues))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConditions(t *testing.T) {
	t.Parallel()
	i := itemOf(t, theItem)
	for _, c := range []struct{ text, want string }{
		{"a = :five", "true"}, {"a <> :five", "false"}, {"a < :six", "true"}, {"a > :six", "false"}, {"a >= :five", "true"},
		{"a <= :four", "false"}, {"nothing <> :five", "true"}, {"nothing = :five", "false"}, {"s < :six", "false"},
		{"a BETWEEN :four AND :six", "true"}, {"a between :six and :six", "false"}, {"a IN (:four, :five)", "true"},
		{"a in (:four)", "false"}, {"attribute_exists(m.k)", "true"}, {"attribute_exists(m.z)", "false"},
		{"attribute_not_exists(things[3])", "true"}, {"attribute_exists(things[2][0])", "true"},
		{"attribute_type(s, :S)", "true"}, {"attribute_type(a, :S)", "false"}, {"begins_with(s, :hel)", "true"},
		{"begins_with(a, :hel)", "false"}, {"contains(s, :hel)", "true"}, {"contains(ss, :p)", "true"},
		{"contains(things, :x)", "true"}, {"contains(things, :hel)", "false"}, {"size(s) = :five", "true"},
		{"size(things) < :four", "true"}, {"size(a) = :one", "false"}, {"size(b) < size(s)", "true"},
		{"NOT a = :five", "false"}, {"a = :six OR a = :five AND s = :hel", "false"},
		{"(a = :six OR a = :five) AND begins_with(s, :hel)", "true"}, {"not (a = :six) and #m.#k = :v", "true"},
		{"things[0] = :one and #l[1] = :x", "true"}, {"ok = :bool", "true"}, {"(a) = :five", "true"},
		{"a", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"`},
		{"a = ", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "= "`},
		{"a = = :five", `Invalid ConditionExpression: Syntax error; token: "=", near: "= = :five"`},
		{"a ! b", `Invalid ConditionExpression: Syntax error; token: "!", near: "a ! b"`},
		{"_a = b", `Invalid ConditionExpression: Syntax error; token: "_", near: "_a"`},
		{"", "Invalid ConditionExpression: The expression can not be empty;"},
		{strings.Repeat("a", 4097), "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"status = :five", "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: status"},
		{"a = :nope", "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :nope"},
		{"#nope = :five", "Invalid ConditionExpression: An expression attribute name used in the document path is not defined; attribute name: #nope"},
		{"fun(a)", "Invalid ConditionExpression: Invalid function name; function: fun"},
		{"Contains(a, :five)", "Invalid ConditionExpression: Invalid function name; function: Contains"},
		{"list_append(a, :five)", "Invalid ConditionExpression: The function is not allowed in a condition expression; function: list_append"},
		{"size(a, a) = :v", "Invalid ConditionExpression: Incorrect number of operands for operator or function; operator or function: size, number of operands: 2"},
		{"contains(a)", "Invalid ConditionExpression: Incorrect number of operands for operator or function; operator or function: contains, number of operands: 1"},
		{"a < :bool", "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{"begins_with(a, :five)", "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
		{"attribute_exists(:five)", "Invalid ConditionExpression: Operator or function requires a document path; operator or function: attribute_exists"},
		{"attribute_type(a, :FOO)", "Invalid ConditionExpression: Invalid attribute type name found; type: FOO, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{"a = a", "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]"},
		{"things[0] <> things[0]", "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: <>, first operand: [things, [0]]"},
		{"a BETWEEN :six AND :five", "Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:6}, upper bound operand: AttributeValue: {N:5}"},
		{"a BETWEEN :hel AND :five", "Invalid ConditionExpression: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:hel}, upper bound operand: AttributeValue: {N:5}"},
		{"((a = :five))", "Invalid ConditionExpression: The expression has redundant parentheses;"},
		{"size(a)", "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: size"},
		{"contains(a, :five) = :five", "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: contains"},
		{"size(:one) = :one", "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: size, operand type: N"},
	} {
		condition, err := expression.ParseCondition("ConditionExpression", c.text, params(t))
		var got string
		switch {
		case err != nil:
			got = err.Error()
		case condition.Holds(i):
			got = "true"
		default:
			got = "false"
		}
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.text, got, c.want)
		}
	}
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, text, want string }{
		{`{}`, "SET a = :five, s = :hel", `{"a":{"N":"5"},"s":{"S":"hel"}}`},
		{`{"a":{"N":"1"}}`, "set a = a + :five", `{"a":{"N":"6"}}`},
		{`{"a":{"N":"1"}}`, "SET b = a - :five, a = :six", `{"a":{"N":"6"},"b":{"N":"-4"}}`},
		{`{}`, "SET a = if_not_exists(a, :four) + :one", `{"a":{"N":"5"}}`},
		{`{"l":{"L":[{"S":"x"}]}}`, "SET l = list_append(l, :list)", `{"l":{"L":[{"S":"x"},{"N":"9"}]}}`},
		{`{}`, "SET l = list_append(if_not_exists(l, :list), :list)", `{"l":{"L":[{"N":"9"},{"N":"9"}]}}`},
		{`{"m":{"M":{"k":{"M":{}}}}}`, "SET m.k.z = :v", `{"m":{"M":{"k":{"M":{"z":{"S":"v"}}}}}}`},
		{`{"l":{"L":[{"N":"0"}]}}`, "SET l[7] = :one, l[3] = :four", `{"l":{"L":[{"N":"0"},{"N":"4"},{"N":"1"}]}}`},
		{`{"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}}`, "REMOVE l[1], l[2] SET l[0] = :v", `{"l":{"L":[{"S":"v"},{"N":"3"}]}}`},
		{`{"m":{"M":{"l":{"L":[{"L":[{"N":"1"},{"N":"2"}]}]}}}}`, "REMOVE m.l[0][0]", `{"m":{"M":{"l":{"L":[{"L":[{"N":"2"}]}]}}}}`},
		{`{"a":{"N":"1"},"b":{"N":"1"}}`, "REMOVE a, zzz", `{"b":{"N":"1"}}`},
		{`{}`, "ADD a :five, ss :set", `{"a":{"N":"5"},"ss":{"SS":["q","r"]}}`},
		{`{"a":{"N":"1"},"ss":{"SS":["p","q"]}}`, "ADD a :five, ss :set", `{"a":{"N":"6"},"ss":{"SS":["p","q","r"]}}`},
		{`{"ss":{"SS":["p","q"]}}`, "DELETE ss :set", `{"ss":{"SS":["p"]}}`},
		{`{"ss":{"SS":["q"]}}`, "DELETE ss :set", `{}`},
		{`{"a":{"N":"1"}}`, "SET m = :map REMOVE a ADD n :one", `{"m":{"M":{}},"n":{"N":"1"}}`},
		{`{"a":{"S":"1"}}`, "ADD a :five", "An operand in the update expression has an incorrect data type"},
		{`{"a":{"S":"1"}}`, "SET a = a + :five", "An operand in the update expression has an incorrect data type"},
		{`{}`, "SET a = b", "The provided expression refers to an attribute that does not exist in the item"},
		{`{}`, "SET a.b = :v", "The document path provided in the update expression is invalid for update"},
		{`{"a":{"S":"x"}}`, "SET a[0] = :v", "The document path provided in the update expression is invalid for update"},
		{`{"a":{"M":{}}}`, "REMOVE a.b.c", "The document path provided in the update expression is invalid for update"},
		{`{}`, "SET", `Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"`},
		{`{}`, "a = :v", `Invalid UpdateExpression: Syntax error; token: "a", near: "a ="`},
		{`{}`, "SET a = :v, SET b = :v", `Invalid UpdateExpression: Syntax error; token: "b", near: "SET b ="`},
		{`{}`, "SET a = :v SET b = :v", `Invalid UpdateExpression: The "SET" section can only be used once in an update expression;`},
		{`{}`, "SET a = :v REMOVE a", "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]"},
		{`{}`, "SET a.b = :v, a[1] = :v", "Invalid UpdateExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]"},
		{`{}`, "ADD a :v", "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeset: ALLOWED_FOR_ADD_OPERAND"},
		{`{}`, "DELETE a :five", "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeset: ALLOWED_FOR_DELETE_OPERAND"},
		{`{}`, "SET a = attribute_exists(b)", "Invalid UpdateExpression: The function is not allowed in an update expression; function: attribute_exists"},
		{`{}`, "SET a = nope(b)", "Invalid UpdateExpression: Invalid function name; function: nope"},
		{`{}`, "SET a = list_append(a)", "Invalid UpdateExpression: Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1"},
		{`{}`, "SET a = :v + :one", "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, operand type: S"},
		{`{}`, "SET a = if_not_exists(:v, :one)", "Invalid UpdateExpression: Operator or function requires a document path; operator or function: if_not_exists"},
		{`{}`, "SET name = :v", "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: name"},
	} {
		before := itemOf(t, c.before)
		update, err := expression.ParseUpdate(c.text, params(t))
		var after item.Item
		if err == nil {
			after, err = update.Apply(before)
		}
		got := text(after)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s:\n%s, want\n%s", c.text, c.before, got, c.want)
		}
		if text(before) != c.before {
			t.Errorf("%s changed the item itself: %s", c.text, text(before))
		}
	}
}

func TestProjections(t *testing.T) {
	t.Parallel()
	i := itemOf(t, theItem)
	for text1, want := range map[string]string{
		"a, s":                    `{"a":{"N":"5"},"s":{"S":"hello"}}`,
		"m.k, nothing, m.zzz":     `{"m":{"M":{"k":{"S":"v"}}}}`,
		"things[2][0], things[0]": `{"things":{"L":[{"N":"1"},{"L":[{"N":"7"}]}]}}`,
		"things[9]":               `{}`,
		"#m.#k.z":                 `{}`,
		"a, a":                    "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"m, m.k":                  "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, k]",
		"first-name":              `Invalid ProjectionExpression: Syntax error; token: "-", near: "first-name"`,
		"a b":                     `Invalid ProjectionExpression: Syntax error; token: "b", near: "a b"`,
		"date":                    "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: date",
		"things[:five]":           `Invalid ProjectionExpression: Syntax error; token: ":five", near: "[:five]"`,
	} {
		p, err := expression.ParseProjection(text1, params(t))
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = text(p.Of(i))
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", text1, got, want)
		}
	}
}

func TestKeyConditions(t *testing.T) {
	t.Parallel()
	for text1, want := range map[string]string{
		"a = :five AND s > :hel":             "",
		":five = a and begins_with(s, :hel)": "",
		"a = :five OR a = :six":              "Invalid operator used in KeyConditionExpression: OR",
		"a = :five AND NOT s = :hel":         "Invalid operator used in KeyConditionExpression: NOT",
		"a <> :five":                         "Invalid operator used in KeyConditionExpression: <>",
		"contains(a, :hel)":                  "Invalid operator used in KeyConditionExpression: contains",
		"a = :five AND a = :six":             "KeyConditionExpressions must only contain one condition per key",
		"a.b = :five":                        "KeyConditionExpressions cannot have conditions on nested attributes",
		"a = s":                              "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
		"size(a) = :five":                    "KeyConditionExpressions cannot contain nested operations",
		":five = :six":                       "Invalid condition in KeyConditionExpression: No key attribute specified",
		":five BETWEEN a AND :six":           "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand",
	} {
		_, err := expression.ParseKeyCondition(text1, params(t))
		if got := errorText(err); got != want {
			t.Errorf("%s: %s, want %s", text1, got, want)
		}
	}
	found, err := expression.ParseKeyCondition(":five = a AND :six > s", params(t))
	if err != nil || found["a"].Operator != expression.Equal || found["s"].Operator != expression.Less ||
		found["s"].Values[0].Text != "6" {
		t.Errorf("got %v, %v", found, err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names  map[string]string
		values string
		want   string
	}{
		{map[string]string{}, "", "ExpressionAttributeNames must not be empty"},
		{nil, "{}", "ExpressionAttributeValues must not be empty"},
		{map[string]string{"a": "b"}, "", `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{map[string]string{"#": "b"}, "", `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{nil, `{"#a":{"S":"b"}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"`},
		{map[string]string{"#b": "b", "#a": "a", "#c": "c"}, "", "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}"},
		{nil, `{":x":{"S":"b"}}`, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"},
		{map[string]string{"#c": "c"}, "", ""},
	} {
		var values item.Item
		if c.values != "" {
			values = itemOf(t, c.values)
		}
		p, err := expression.NewParameters(c.names, values)
		if err == nil {
			if c.names != nil {
				if _, err := expression.ParseProjection("#c", p); err != nil {
					t.Error(err)
				}
			}
			err = p.Unused()
		}
		if got := errorText(err); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.names, c.values, got, c.want)
		}
	}
}

// FuzzExpressions checks that any text is either parsed or rejected, and that what is parsed can be evaluated.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{"a = :five AND NOT (b > :six)", "SET a = list_append(l, :list) REMOVE things[0]",
		"ADD a :one DELETE ss :set", "a, m.k, things[1]", "size(a) BETWEEN :one AND :four", "a in (:one, #a)"} {
		f.Add(seed)
	}
	i := itemOf(f, theItem)
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := expression.ParseCondition("ConditionExpression", text, params(t)); err == nil {
			c.Holds(i)
			c.Holds(nil)
		}
		if u, err := expression.ParseUpdate(text, params(t)); err == nil {
			if after, err := u.Apply(i); err == nil {
				if again, err := item.Decode(after.Append(nil)); err != nil || !item.EqualItems(again, after) {
					t.Errorf("%s made no item: %v", text, err)
				}
			}
		}
		if p, err := expression.ParseProjection(text, params(t)); err == nil {
			p.Of(i)
		}
		_, _ = expression.ParseKeyCondition(text, params(t))
	})
}
