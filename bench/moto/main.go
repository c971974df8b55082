// Command moto compares stepback serve with moto's server: the same requests, by the same raw HTTP clients, in the
// same run. It starts neither of them; pass it two addresses.
//
//	moto_server -p 5000 & stepback serve --listen 127.0.0.1:4566 --data "$(mktemp -d)" &
//	go run ./bench/moto -stepback http://127.0.0.1:4566 -moto http://127.0.0.1:5000
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// clients is the number of concurrent clients. In stepback, they share each sync of the disk; moto does not sync.
const clients = 32

func main() {
	ours := flag.String("stepback", "http://127.0.0.1:4566", "address of stepback serve")
	theirs := flag.String("moto", "http://127.0.0.1:5000", "address of moto_server")
	during := flag.Duration("for", 5*time.Second, "how long each is measured, three times in turn")
	flag.Parse()
	fmt.Fprintln(os.Stdout, "| operation | stepback /s | moto /s | ratio |\n|---|---:|---:|---:|")
	for _, w := range []struct {
		name string
		make func(*server) (func(client int) error, error)
	}{
		{"SQS send, receive, delete", messages},
		{"DynamoDB PutItem", items},
		{"SNS → SQS, publish and receive", fanOut},
		{"PutEvents → rule → SQS, put and receive", events},
	} {
		var rates [2]float64
		for i, address := range []string{*ours, *theirs} {
			s := &server{address: address, http: &http.Client{Timeout: 30 * time.Second,
				Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
			act, err := w.make(s)
			if err == nil {
				rates[i], err = rate(act, *during)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "moto:", address, w.name+":", err)
				os.Exit(1)
			}
		}
		fmt.Fprintf(os.Stdout, "| %s | %.0f | %.0f | %.0f |\n", w.name, rates[0], rates[1], rates[0]/rates[1])
	}
}

// rate returns how often per second all clients together perform an action.
func rate(act func(client int) error, during time.Duration) (float64, error) {
	var n atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	begin := time.Now()
	for c := range clients {
		wg.Go(func() {
			for time.Since(begin) < during {
				if err := act(c); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return 0, *err
	}
	return float64(n.Load()) / time.Since(begin).Seconds(), nil
}

// server is one of the two servers.
type server struct {
	address string
	http    *http.Client
}

const authorization = "AWS4-HMAC-SHA256 Credential=local/20261122/us-east-1/%s/aws4_request, SignedHeaders=host, " +
	"Signature=0"

// json calls an operation of a service with a JSON protocol.
func (s *server) json(service, version, target string, in map[string]any) (map[string]any, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	text, err := s.post(service, "application/x-amz-json-"+version, target, body)
	out := map[string]any{}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

func (s *server) post(service, kind, target string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.address+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", fmt.Sprintf(authorization, service))
	r.Header.Set("X-Amz-Date", "20261122T000000Z")
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	a, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", target, a.StatusCode, text)
	}
	return text, err
}

func (s *server) sqs(operation string, in map[string]any) (map[string]any, error) {
	return s.json("sqs", "1.0", "AmazonSQS."+operation, in)
}

// queues creates a queue for each client.
func (s *server) queues(prefix string) (urls []string, err error) {
	for c := range clients {
		out, err := s.sqs("CreateQueue", map[string]any{"QueueName": fmt.Sprint(prefix, c)})
		if err != nil {
			return nil, err
		}
		urls = append(urls, out["QueueUrl"].(string))
	}
	return urls, nil
}

func arn(prefix string, c int) string {
	return fmt.Sprintf("arn:aws:sqs:us-east-1:%s:%s%d", account, prefix, c)
}

// account is moto's account; stepback accepts any.
var account = "123456789012"

// take receives a message and deletes it.
func (s *server) take(queue string) error {
	for {
		out, err := s.sqs("ReceiveMessage", map[string]any{"QueueUrl": queue, "WaitTimeSeconds": 1})
		if err != nil {
			return err
		}
		got, _ := out["Messages"].([]any)
		if len(got) == 0 {
			continue
		}
		_, err = s.sqs("DeleteMessage", map[string]any{"QueueUrl": queue,
			"ReceiptHandle": got[0].(map[string]any)["ReceiptHandle"]})
		return err
	}
}

func messages(s *server) (func(int) error, error) {
	queues, err := s.queues("direct")
	return func(c int) error {
		_, err := s.sqs("SendMessage", map[string]any{"QueueUrl": queues[c], "MessageBody": "a message"})
		if err != nil {
			return err
		}
		return s.take(queues[c])
	}, err
}

func items(s *server) (func(int) error, error) {
	_, err := s.json("dynamodb", "1.0", "DynamoDB_20120810.CreateTable", map[string]any{"TableName": "items",
		"BillingMode": "PAY_PER_REQUEST", "KeySchema": []any{map[string]any{"AttributeName": "k", "KeyType": "HASH"}},
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "k", "AttributeType": "S"}}})
	var n atomic.Int64
	return func(int) error {
		_, err := s.json("dynamodb", "1.0", "DynamoDB_20120810.PutItem", map[string]any{"TableName": "items",
			"Item": map[string]any{"k": map[string]any{"S": strconv.FormatInt(n.Add(1), 10)}, "v": map[string]any{"S": "a value"}}})
		return err
	}, err
}

func (s *server) sns(action string, values url.Values) (string, error) {
	values.Set("Action", action)
	values.Set("Version", "2010-03-31")
	text, err := s.post("sns", "application/x-www-form-urlencoded", "", []byte(values.Encode()))
	return string(text), err
}

func fanOut(s *server) (func(int) error, error) {
	queues, err := s.queues("fan")
	if err != nil {
		return nil, err
	}
	topics := make([]string, clients)
	for c := range clients {
		text, err := s.sns("CreateTopic", url.Values{"Name": {fmt.Sprint("topic", c)}})
		if err != nil {
			return nil, err
		}
		_, after, _ := strings.Cut(text, "<TopicArn>")
		topics[c], _, _ = strings.Cut(after, "</TopicArn>")
		account = strings.Split(topics[c], ":")[4]
		if _, err := s.sns("Subscribe", url.Values{"TopicArn": {topics[c]}, "Protocol": {"sqs"},
			"Endpoint": {arn("fan", c)}}); err != nil {
			return nil, err
		}
	}
	return func(c int) error {
		if _, err := s.sns("Publish", url.Values{"TopicArn": {topics[c]}, "Message": {"a message"}}); err != nil {
			return err
		}
		return s.take(queues[c])
	}, nil
}

func events(s *server) (func(int) error, error) {
	queues, err := s.queues("ruled")
	if err != nil {
		return nil, err
	}
	for c := range clients {
		rule := fmt.Sprint("rule", c)
		out, err := s.json("events", "1.1", "AWSEvents.PutRule", map[string]any{"Name": rule,
			"EventPattern": fmt.Sprintf(`{"source":["s%d"]}`, c)})
		if err != nil {
			return nil, err
		}
		account = strings.Split(out["RuleArn"].(string), ":")[4]
		if _, err := s.json("events", "1.1", "AWSEvents.PutTargets", map[string]any{"Rule": rule,
			"Targets": []any{map[string]any{"Id": "q", "Arn": arn("ruled", c)}}}); err != nil {
			return nil, err
		}
	}
	return func(c int) error {
		if _, err := s.json("events", "1.1", "AWSEvents.PutEvents", map[string]any{"Entries": []any{map[string]any{
			"Source": fmt.Sprint("s", c), "DetailType": "d", "Detail": `{"a":1}`}}}); err != nil {
			return err
		}
		return s.take(queues[c])
	}, nil
}
