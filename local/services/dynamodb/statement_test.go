package dynamodb_test

import (
	"errors"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// run executes a statement and returns the resulting items.
func (b *bench) run(statement string, params ...types.AttributeValue) (string, error) {
	out, err := b.ExecuteStatement(b.t.Context(), &client.ExecuteStatementInput{Statement: &statement,
		Parameters: params})
	if err != nil {
		return "", err
	}
	return texts(out.Items), nil
}

func (b *bench) ran(want, statement string, params ...types.AttributeValue) {
	b.t.Helper()
	if got, err := b.run(statement, params...); err != nil || got != want {
		b.t.Errorf("%s:\n got %s, %v\nwant %s", statement, got, err, want)
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	for i := range 5 {
		b.ran("", `INSERT INTO "things" VALUE {'pk': ?, 'sk': ?, 'n': ?, 'color': 'red'}`, s("a"), n(i), n(10-i))
	}
	one := func(i int) string {
		return text(attrs{"pk": s("a"), "sk": n(i), "n": n(10 - i), "color": s("red")})
	}
	_, err := b.run(`INSERT INTO things VALUE {'pk': 'a', 'sk': 1}`)
	refused(t, err, "DuplicateItemException", "Duplicate primary key exists in table")
	b.ran(one(3), `SELECT * FROM things WHERE pk = 'a' AND sk = 3`)
	b.ran(one(4)+" | "+one(3), `SELECT * FROM things WHERE pk = ? AND sk > ? ORDER BY sk DESC`, s("a"), n(2))
	b.ran(one(1), `SELECT * FROM things WHERE pk = 'a' AND n = 9`)
	b.ran(one(2), `SELECT * FROM things WHERE n = 8 AND color = 'red'`)
	b.ran(text(attrs{"sk": n(0)}), `SELECT sk FROM things WHERE pk IN ['a', 'b'] AND begins_with(color, 'r') AND n >= 10`)
	b.ran("", `SELECT * FROM things WHERE pk = 'a' AND note IS NOT MISSING`)
	b.ran(text(attrs{"pk": s("a"), "sk": n(4), "n": n(6), "color": s("red")}),
		`SELECT * FROM "things"."by-color" WHERE color = 'red' AND n < 7`)

	b.ran(text(attrs{"n": n(14)}), `UPDATE things SET n = n + ? WHERE pk = 'a' AND sk = 1 AND color = 'red'
		RETURNING MODIFIED NEW *`, n(5))
	b.ran("", `UPDATE things SET note = 'x' REMOVE color WHERE pk = 'a' AND sk = 1`)
	b.ran(text(attrs{"pk": s("a"), "sk": n(1), "n": n(14), "note": s("x")}), `SELECT * FROM things WHERE pk = 'a' AND sk = 1`)
	_, err = b.run(`UPDATE things SET n = 1 WHERE pk = 'a' AND sk = 77`)
	refused(t, err, "ConditionalCheckFailedException", "The conditional request failed")
	_, err = b.run(`UPDATE things SET n = 1 WHERE pk = 'a'`)
	refused(t, err, "ValidationException", "Where clause does not contain a mandatory equality on all key attributes")
	_, err = b.run(`UPDATE things SET pk = 'b' WHERE pk = 'a' AND sk = 1`)
	refused(t, err, "ValidationException", "Cannot update attribute pk. This attribute is part of the key")
	b.ran("", `DELETE FROM things WHERE pk = 'a' AND sk = 77`)
	b.ran(one(0), `DELETE FROM things WHERE pk = 'a' AND sk = 0 RETURNING ALL OLD *`)
	_, err = b.run(`SELECT * FROM nothing`)
	refused(t, err, "ResourceNotFoundException", "Requested resource not found")
	_, err = b.run(`SELECT * FROM things ORDER BY sk`)
	refused(t, err, "ValidationException", "Must have WHERE clause in the statement when using ORDER BY clause.")

	statement := `SELECT sk FROM things WHERE pk = 'a'`
	first, err := b.ExecuteStatement(t.Context(), &client.ExecuteStatementInput{Statement: &statement,
		Limit: sdk.Int32(2)})
	if err != nil || len(first.Items) != 2 || first.NextToken == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	rest, err := b.ExecuteStatement(t.Context(), &client.ExecuteStatementInput{Statement: &statement,
		NextToken: first.NextToken})
	if err != nil || texts(rest.Items) != text(attrs{"sk": n(3)})+" | "+text(attrs{"sk": n(4)}) || rest.NextToken != nil {
		t.Errorf("%s, %v", texts(rest.Items), err)
	}
	_, err = b.ExecuteStatement(t.Context(), &client.ExecuteStatementInput{Statement: &statement, NextToken: sdk.String("?")})
	refused(t, err, "ValidationException", "Given NextToken is not valid")
}

func TestStatementsInBatchesAndTransactions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	batch := func(statements ...string) *client.BatchExecuteStatementOutput {
		t.Helper()
		in := &client.BatchExecuteStatementInput{}
		for _, text := range statements {
			in.Statements = append(in.Statements, types.BatchStatementRequest{Statement: sdk.String(text)})
		}
		out, err := b.BatchExecuteStatement(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wrote := batch(`INSERT INTO things VALUE {'pk': 'a', 'sk': 1}`, `INSERT INTO things VALUE {'pk': 'a', 'sk': 1}`,
		`UPDATE nothing SET a = 1 WHERE pk = 'a'`, `DELETE FROM things WHERE pk = 'a'`).Responses
	if wrote[0].Error != nil || wrote[1].Error.Code != "DuplicateItem" || wrote[2].Error.Code != "ResourceNotFound" ||
		wrote[3].Error.Code != "ValidationError" || *wrote[0].TableName != things {
		t.Errorf("%+v", wrote)
	}
	read := batch(`SELECT * FROM things WHERE pk = 'a' AND sk = 1`, `SELECT * FROM things WHERE pk = 'a'`).Responses
	if text(read[0].Item) != text(id("a", 1)) || *read[1].Error.Message !=
		"Select statements within BatchExecuteStatement must specify the primary key in the where clause." {
		t.Errorf("%+v", read)
	}
	transact := func(statements ...string) (*client.ExecuteTransactionOutput, error) {
		in := &client.ExecuteTransactionInput{}
		for _, text := range statements {
			one := types.ParameterizedStatement{Statement: sdk.String(text)}
			in.TransactStatements = append(in.TransactStatements, one)
		}
		return b.ExecuteTransaction(t.Context(), in)
	}
	if _, err := transact(`EXISTS(SELECT * FROM things WHERE pk = 'a' AND sk = 1)`,
		`INSERT INTO things VALUE {'pk': 'b', 'sk': 2}`); err != nil {
		t.Error(err)
	}
	_, err := transact(`INSERT INTO things VALUE {'pk': 'c', 'sk': 3}`, `INSERT INTO things VALUE {'pk': 'b', 'sk': 2}`)
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[1].Code != "DuplicateItem" {
		t.Errorf("%v", err)
	}
	got, err := transact(`SELECT * FROM things WHERE pk = 'b' AND sk = 2`, `SELECT * FROM things WHERE pk = 'c' AND sk = 3`)
	if err != nil || text(got.Responses[0].Item) != text(id("b", 2)) || got.Responses[1].Item != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = transact(`SELECT * FROM things WHERE pk = 'b' AND sk = 2`, `DELETE FROM things WHERE pk = 'c' AND sk = 3`)
	refused(t, err, "ValidationException", "Transactional statements may only contain all read or all write statements.")
}
