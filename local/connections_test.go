package local_test

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"stepback/local"
)

// reuse sends requests of every kind over one connection of the SDK for Python. A request that the server does not
// answer in order fails with a read timeout.
const reuse = `
import sys, boto3
from botocore.config import Config
from botocore.exceptions import ClientError
def client(service, **more):
    return boto3.client(service, endpoint_url=sys.argv[1], region_name='us-east-1', aws_access_key_id='a',
        aws_secret_access_key='b', config=Config(max_pool_connections=1, read_timeout=10,
        retries={'total_max_attempts': 1}, **more))
def refused(code, call, **args):
    try: call(**args)
    except ClientError as e:
        if e.response['Error']['Code'] == code: return
        raise
    raise Exception('not refused: ' + code)
for more in ({}, {'request_checksum_calculation': 'when_required'}, {'s3': {'payload_signing_enabled': True}}):
    s3 = client('s3', **more)
    s3.create_bucket(Bucket='books')
    put = lambda key, body, **args: s3.put_object(Bucket='books', Key=key, Body=body, **args)
    get = lambda key: s3.get_object(Bucket='books', Key=key)['Body'].read()
    large = b'x' * 1000000
    for body in (b'', b'small', b'', large, b''):
        put('_SUCCESS', b'')
        put('k', body)
        put('folder/', b'', ChecksumAlgorithm='SHA256')
        if get('k') != body or get('_SUCCESS') != b'': raise Exception('not what was put')
    for body in (b'', b'small', large):
        refused('NoSuchBucket', s3.put_object, Bucket='absent-bucket', Key='k', Body=body)
        refused('PreconditionFailed', s3.put_object, Bucket='books', Key='k', Body=body, IfNoneMatch='*')
        refused('NoSuchKey', s3.get_object, Bucket='books', Key='absent')
        put('k2', body)
    id = s3.create_multipart_upload(Bucket='books', Key='m')['UploadId']
    refused('NoSuchUpload', s3.upload_part, Bucket='books', Key='m', UploadId='absent', PartNumber=1, Body=large)
    part = s3.upload_part(Bucket='books', Key='m', UploadId=id, PartNumber=1, Body=b'small')
    s3.complete_multipart_upload(Bucket='books', Key='m', UploadId=id, MultipartUpload={'Parts': [{'PartNumber': 1, 'ETag': part['ETag']}]})
    if get('m') != b'small': raise Exception('not what was uploaded')
sqs = client('sqs')
url = sqs.create_queue(QueueName='q')['QueueUrl']
refused('InvalidParameterValue', sqs.send_message, QueueUrl=url, MessageBody='x' * 1100000)
sqs.send_message(QueueUrl=url, MessageBody='x')
logs = client('logs')
refused('ResourceNotFoundException', logs.put_log_events, logGroupName='absent', logStreamName='s', logEvents=[{'timestamp': 1, 'message': 'x' * 200000}])
logs.create_log_group(logGroupName='g')
print('done')
`

func TestOneConnectionOfTheSDKForPython(t *testing.T) {
	t.Parallel()
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import boto3").Run(); err != nil {
		t.Skipf("python3 has no boto3 here (%v); pip install boto3", err)
	}
	p := open(t, local.Config{Dir: t.TempDir()})
	out, err := exec.CommandContext(t.Context(), "python3", "-c", reuse, p.Endpoint).CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// signedAsLocal is the Authorization of a request of the default account.
const signedAsLocal = "AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"

// TestAwsChunkedBodiesOnOneConnection uploads aws-chunked bodies with their trailers in all forms, each followed by a
// request for the object on the same connection.
func TestAwsChunkedBodiesOnOneConnection(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{Dir: t.TempDir()})
	address := strings.TrimPrefix(p.Endpoint, "http://")
	exchange := func(requests string) string {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, requests); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	if got := exchange("PUT /books HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: " + signedAsLocal + "\r\nContent-Length: 0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 OK") {
		t.Fatal(got)
	}
	const trailer = "x-amz-checksum-crc32:NSRBwg==\r\n\r\n"
	for _, form := range []string{"STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
		"STREAMING-AWS4-HMAC-SHA256-PAYLOAD"} {
		for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
			for content, inner := range map[string]string{"abc": "3\r\nabc\r\n0\r\n", "": "0\r\n"} {
				end, declared := "\r\n", ""
				if strings.HasSuffix(form, "-TRAILER") {
					end, declared = trailer, "x-amz-trailer: x-amz-checksum-crc32\r\n"
					if content == "" {
						end = "x-amz-checksum-crc32:AAAAAA==\r\n\r\n"
					}
				}
				inner += end
				for framing, body := range map[string]string{
					fmt.Sprintf("Content-Length: %d", len(inner)): inner,
					"Transfer-Encoding: chunked":                  fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
				} {
					head := " HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: " + signedAsLocal + "\r\n"
					got := exchange("PUT /books/k" + head + "Content-Encoding: aws-chunked\r\nx-amz-content-sha256: " + form + "\r\n" +
						fmt.Sprintf("x-amz-decoded-content-length: %d\r\n", len(content)) + declared + expect + framing + "\r\n\r\n" + body +
						"GET /books/k" + head + "\r\n" + "PUT /absent-bucket/k" + head + "Content-Length: 3\r\n\r\nabc" + "GET /books/k" + head + "\r\n")
					statuses := strings.Count(got, "HTTP/1.1 200 OK\r\n")
					if statuses != 3 || strings.Count(got, "HTTP/1.1 404 Not Found\r\n") != 1 || !strings.HasSuffix(got, "\r\n\r\n"+content) {
						t.Errorf("%s, %s, %q, %q: %s", form, framing, expect, content, got)
					}
				}
			}
		}
	}
}
