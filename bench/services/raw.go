package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// connection is a raw client with one persistent connection.
type connection struct {
	net.Conn
	in   *bufio.Reader
	body []byte
	// recorded, if not nil, receives every request with its response, head included.
	recorded func(request, response []byte)
}

// longest bounds the use of a connection, so that a server that does not answer ends the measurement.
const longest = 2 * time.Minute

func dial(ctx context.Context, host string) (*connection, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(longest)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &connection{Conn: c, in: bufio.NewReader(c)}, nil
}

// ask sends a request and reads its response, which is valid until the next request.
func (c *connection) ask(request []byte) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	status, length := "", 0
	var head []byte
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if c.recorded != nil {
			head = append(head, line...)
		}
		if len(line) <= 2 {
			break
		}
		if status == "" {
			status = string(line)
		}
		if name, value, ok := strings.Cut(string(line), ": "); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, err
			}
		}
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	if _, err := io.ReadFull(c.in, c.body); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		return nil, fmt.Errorf("%s: %s", strings.TrimSpace(status), c.body)
	}
	if c.recorded != nil {
		c.recorded(request, append(head, c.body...))
	}
	return c.body, nil
}

// request returns a request with the headers that the SDK sends.
func (a *apis) request(service, kind, target, body string) []byte {
	if target != "" {
		target = "X-Amz-Target: " + target + "\r\n"
	}
	const signature = "AWS4-HMAC-SHA256 Credential=000000000000/20261122/us-east-1/%s/aws4_request, SignedHeaders=" +
		"amz-sdk-invocation-id;amz-sdk-request;content-length;content-type;host;x-amz-date;x-amz-target, Signature=%064d"
	return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: %s\r\nUser-Agent: aws-sdk-go-v2/1.41.0 ua/2.1 os/linux lang/go#1.26\r\n"+
		"Content-Length: %d\r\nAmz-Sdk-Invocation-Id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\r\n"+
		"Amz-Sdk-Request: attempt=1; max=3\r\nAuthorization: "+signature+"\r\nContent-Type: %s\r\nX-Amz-Date: "+
		"20261122T120000Z\r\n%sAccept-Encoding: gzip\r\n\r\n%s", a.host, len(body), service, 0, kind, target, body)
}

// object returns a request for an object, with an unsigned payload as over TLS.
func (a *apis) object(method, path, body string) []byte {
	const signature = "AWS4-HMAC-SHA256 Credential=000000000000/20261122/us-east-1/s3/aws4_request, SignedHeaders=" +
		"amz-sdk-invocation-id;amz-sdk-request;content-length;host;x-amz-content-sha256;x-amz-date, Signature=%064d"
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: aws-sdk-go-v2/1.41.0 ua/2.1 os/linux lang/go#1.26\r\n"+
		"Content-Length: %d\r\nAmz-Sdk-Invocation-Id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\r\n"+
		"Amz-Sdk-Request: attempt=1; max=3\r\nAuthorization: "+signature+"\r\nX-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\n"+
		"X-Amz-Date: 20261122T120000Z\r\n\r\n%s", method, path, a.host, len(body), 0, body)
}

// json returns a request in AWS JSON.
func (a *apis) json(service, version, target, body string) []byte {
	return a.request(service, "application/x-amz-json-"+version, target, body)
}
