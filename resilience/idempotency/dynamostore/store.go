// Package dynamostore keeps idempotency keys in a DynamoDB table whose partition key is the string "key". Each
// operation is one conditional write. DynamoDB removes expired items if you set the number "ttl" as the table's
// time to live. The store does not rely on that; it checks "expires" itself.
package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/resilience/idempotency"
)

// maxAnswer is below the 400 KB limit of an item, so that its other attributes fit.
const maxAnswer = 390 << 10

// Client is the part of the DynamoDB client that a store calls; *dynamodb.Client implements it.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(
		context.Context,
		*dynamodb.UpdateItemInput,
		...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(
		context.Context,
		*dynamodb.DeleteItemInput,
		...func(*dynamodb.Options),
	) (*dynamodb.DeleteItemOutput, error)
}

// Store implements idempotency.Store.
type Store struct {
	client Client
	table  string
}

// New returns a store that uses an existing table.
func New(client Client, table string) *Store { return &Store{client, table} }

// MaxAnswer returns 390 KiB, because an item is limited to 400 KB.
func (s *Store) MaxAnswer() int { return maxAnswer }

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func blob(b []byte) types.AttributeValue {
	if b == nil {
		b = []byte{} // the client sends nil as null, which DynamoDB refuses
	}
	return &types.AttributeValueMemberB{Value: b}
}
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
func instant(t time.Time) types.AttributeValue { return number(t.UnixMilli()) }
func ttl(t time.Time) types.AttributeValue     { return number(t.Unix() + 3600) } // clocks differ

// names returns placeholders for the attributes, because DynamoDB reserves many of their names.
func names(attributes ...string) map[string]string {
	m := make(map[string]string, len(attributes))
	for _, a := range attributes {
		m["#"+a] = a
	}
	return m
}

// Begin implements idempotency.Store.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim) (idempotency.Standing, error) {
	out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: item{
			"key": text(c.Key), "fingerprint": blob(c.Fingerprint), "token": text(c.Token),
			"lease": instant(c.Until), "expires": instant(c.Expires), "ttl": ttl(c.Expires),
			"lasts": number(c.Until.Sub(c.Now).Milliseconds()),
		},
		ConditionExpression: aws.String("attribute_not_exists(#key) OR " +
			"(#expires <= :now AND (attribute_exists(#status) OR #lease <= :now)) OR " +
			"(attribute_not_exists(#status) AND #fingerprint = :fingerprint AND (#lease <= :now OR #token = :token))"),
		ExpressionAttributeNames: names("key", "expires", "status", "fingerprint", "lease", "token"),
		ExpressionAttributeValues: item{
			":now":         instant(c.Now),
			":fingerprint": blob(c.Fingerprint),
			":token":       text(c.Token),
		},
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err == nil {
		return idempotency.Standing{State: idempotency.Claimed, TakenOver: len(out.Attributes) > 0}, nil
	}
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return idempotency.Standing{}, fmt.Errorf("idempotency: %w", err)
	}
	return s.standing(ctx, refused.Item, c)
}

// standing interprets the existing item for the claim c.
func (s *Store) standing(ctx context.Context, there item, c idempotency.Claim) (idempotency.Standing, error) {
	if string(bytesOf(there["fingerprint"])) != string(c.Fingerprint) {
		return idempotency.Standing{State: idempotency.Mismatched}, nil
	}
	status, done := there["status"].(*types.AttributeValueMemberN)
	if !done {
		lease, err := numberOf(there["lease"])
		if err != nil {
			return idempotency.Standing{}, err
		}
		lasts, _ := numberOf(there["lasts"]) // missing in an item of an earlier version
		end, changed := c.ShortenLease(time.UnixMilli(lease), time.Duration(lasts)*time.Millisecond)
		token, ok := there["token"].(*types.AttributeValueMemberS)
		if changed && ok {
			err = s.Extend(ctx, c.Key, token.Value, end)
			if errors.Is(err, idempotency.ErrLeaseLost) {
				err = nil // it has just ended
			}
		}
		return idempotency.Standing{State: idempotency.Running, Until: end}, err
	}
	code, err := numberOf(status)
	if err != nil {
		return idempotency.Standing{}, err
	}
	header, err := idempotency.DecodeHeader(bytesOf(there["header"]))
	return idempotency.Standing{
		State:  idempotency.Done,
		Answer: idempotency.Answer{Status: int(code), Header: header, Body: bytesOf(there["body"])},
	}, err
}

func bytesOf(v types.AttributeValue) []byte {
	if b, ok := v.(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

func numberOf(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, errors.New("idempotency: the item was not written by this program: a number is missing")
	}
	return strconv.ParseInt(n.Value, 10, 64)
}

// Extend implements idempotency.Store.
func (s *Store) Extend(ctx context.Context, key, token string, until time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: item{"key": text(key)},
		UpdateExpression:          aws.String("SET #lease = :lease"),
		ConditionExpression:       aws.String("#token = :token AND attribute_not_exists(#status)"),
		ExpressionAttributeNames:  names("lease", "token", "status"),
		ExpressionAttributeValues: item{":lease": instant(until), ":token": text(token)},
	})
	return lostLease(err)
}

// Finish implements idempotency.Store. Repeating it with the same token is safe, because it writes the same answer.
func (s *Store) Finish(ctx context.Context, key, token string, a idempotency.Answer, expires time.Time) error {
	header, err := idempotency.EncodeHeader(a.Header)
	if err != nil {
		return err
	}
	set := []string{"#status = :status", "#expires = :expires", "#ttl = :ttl"}
	attributes := names("status", "expires", "ttl", "token")
	values := item{
		":status":  number(int64(a.Status)),
		":expires": instant(expires),
		":ttl":     ttl(expires),
		":token":   text(token),
	}
	for name, value := range map[string][]byte{"header": header, "body": a.Body} {
		if len(value) > 0 {
			set = append(set, "#"+name+" = :"+name)
			attributes["#"+name] = name
			values[":"+name] = blob(value)
		}
	}
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       item{"key": text(key)},
		UpdateExpression:          aws.String("SET " + strings.Join(set, ", ")),
		ConditionExpression:       aws.String("#token = :token"),
		ExpressionAttributeNames:  attributes,
		ExpressionAttributeValues: values,
	})
	return lostLease(err)
}

// Release implements idempotency.Store.
func (s *Store) Release(ctx context.Context, key, token string) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: item{"key": text(key)},
		ConditionExpression:       aws.String("#token = :token AND attribute_not_exists(#status)"),
		ExpressionAttributeNames:  names("token", "status"),
		ExpressionAttributeValues: item{":token": text(token)},
	})
	if err = lostLease(err); errors.Is(err, idempotency.ErrLeaseLost) {
		return nil
	}
	return err
}

// Purge does nothing: DynamoDB's time to live removes expired items.
func (s *Store) Purge(context.Context, time.Time, int) (int, error) { return 0, nil }

func lostLease(err error) error {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return idempotency.ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("idempotency: %w", err)
	}
	return nil
}
