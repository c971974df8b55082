# `make help` lists the targets.
SHELL := /bin/bash
GO ?= go
LINT_VERSION := v2.15.0
VULN_VERSION := v1.8.0
# The linter is installed outside the checkout, with its version in its name, so that all checkouts share it.
LINT := $(shell $(GO) env GOPATH)/bin/stepback-golangci-lint-$(LINT_VERSION)
BIN := bin
# Nothing needs cgo except the race detector. Without cgo, no C code is compiled and binaries are static.
export CGO_ENABLED := 0
# With -trimpath, checkouts in different folders share the build cache. Without debugging information the compiler needs a fifth less
# time; make release and the Lambda functions strip it anyway.
LEANER := -trimpath -gcflags=all=-dwarf=false
export GOFLAGS := $(LEANER) $(filter-out $(LEANER),$(GOFLAGS))
# make run compiles a command without the readers of Parquet, PostgreSQL, the OpenTelemetry SDK, the parsers of JavaScript, and the
# verbs mcp and lsp, which the import of a file does not need. One compiler
# per core, each on one core and without garbage collection below 800 MiB, takes the least processor time.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
COMPILE := GOGC=off GOMEMLIMIT=800MiB GOMAXPROCS=1 $(GO) build -p $(CORES)
# Flags for test binaries. make lint runs go vet, and nobody debugs these binaries; without symbols they link in half the time.
LEAN := -vet=off -ldflags="-s -w"
LAMBDAS := validate process aggregate start metrics adapt relay prune train files
FUZZTIME ?= 10s
# make bench-compare: the base commit, the benchmarks (a regular expression), and the runs of each.
BASE ?= main
BENCH ?= .
COMPARISONS ?= 6
# make simulate, make torture and make crash: the first seed (by default today's date), the duration, the number of kills.
SEED ?= $(shell date +%Y%m%d0000)
DURATION ?= 10m
KILLS ?= 300
# OUT is the output folder of make synth; ENV is the environment of make deploy and make destroy.
OUT ?= cdk/cdk.out
ENV ?= dev
# The CDK command line at its pinned version; npx would fetch a different one. DATABASE=changes allows make deploy to change the
# database.
CDK := node_modules/.bin/cdk
CDKFLAGS ?=
# The faults that make run injects by default.
ARGS ?= --concurrency 50 \
	--fault ProcessSingleUserRecord:DatabaseConnectionError:3% \
	--fault ApplyBatch:throttle:3% \
	--fault ApplyBatch:crash:10%

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## import the bundled CSV file with injected faults (ARGS="--csv FILE …" imports yours)
	@echo "compiling stepback; the first time, with downloads, takes a minute or two" >&2
	@# The first time, compile the standard library while modules are downloaded.
	@[ -e $(BIN)/stepback ] || { $(COMPILE) net/http html/template database/sql encoding/xml image/png archive/zip & \
		$(GO) list -deps -tags lambda.norpc,lean ./cmd/stepback 2>&1 >/dev/null | \
		awk '/^go: downloading/ { if (!(++d % 25)) { printf "  %d modules\n", d; fflush() } ; next } { print }' >&2; wait; }
	@$(COMPILE) -v -tags lambda.norpc,lean -ldflags "-s -w -X main.released=$(shell internal/release/version.sh)" -o $(BIN)/stepback ./cmd/stepback 2> >(awk '/^go: downloading/ { d++ } /^[a-zA-Z0-9._\/-]+$$/ { c++ } \
		!/^go: downloading/ && !/^[a-zA-Z0-9._\/-]+$$/ { print; fflush() } \
		/^go: downloading/ || /^[a-zA-Z0-9._\/-]+$$/ { if (!((d+c) % 25)) { printf "  %d modules, %d packages\n", d, c; fflush() } }' >&2)
	@$(BIN)/stepback run $(ARGS)

.PHONY: test
test: ## run all tests
	@# GOGC=400 speeds up the compiler but must not apply to the tests, so compile the packages first.
	@GOGC=400 $(GO) build ./...
	$(GO) test -timeout 30m $(LEAN) ./...

.PHONY: browser
browser: ## test the console in Chromium, and every page with axe-core (installed by npm; MPL 2.0, not part of the repository)
	npm install --no-save --no-audit --no-fund axe-core@4.14.1
	$(GO) test -count=1 -run 'TestBrowser|TestAccessibility' -v ./local/console

.PHONY: race
race: ## run all tests under the race detector, with the Go zstd that releases use
	CGO_ENABLED=1 $(GO) test -race -timeout 30m -tags pebblegozstd ./...

.PHONY: differential
differential: ## compare the laboratory with both generations of the AWS SDK's retries and failsafe-go's throttler, in separate modules
	cd adaptive/lab/differential && $(GO) vet ./... && $(GO) test ./...
	cd adaptive/lab/differential/sdk2025 && $(GO) vet ./... && $(GO) test ./...

.PHONY: design
design: ## design the retries of 60 drawn problems, and check each design on seeds that the search has not used
	STEPBACK_DESIGN_PROBLEMS=60 $(GO) test -count=1 -timeout 0 -v -run '^TestDrawnProblems$$' ./adaptive/design

.PHONY: crash
crash: ## kill an import with SIGKILL at KILLS random moments (SEED), restart it, and check the result
	STEPBACK_CRASH_SEED=$(SEED) STEPBACK_CRASH_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestCrashes$$' ./cmd/stepback

.PHONY: kill-services
kill-services: ## kill stepback serve with SIGKILL at KILLS random moments (SEED) while all services are under load, and check their data
	STEPBACK_SEED=$(SEED) STEPBACK_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestKilledServices$$' ./cmd/stepback

.PHONY: kill-durable
kill-durable: ## kill stepback serve with SIGKILL at KILLS random moments (SEED) while durable functions run, and check their steps' effects
	STEPBACK_SEED=$(SEED) STEPBACK_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestKilledDurableFunctions$$' ./cmd/stepback

# make corrupt CASES=200 takes a few minutes.
CASES ?= 200

.PHONY: corrupt
corrupt: ## damage a file of a data directory in CASES drawn ways (SEED), and check that each is reported or harmless, and repaired
	STEPBACK_SEED=$(SEED) STEPBACK_CASES=$(CASES) $(GO) test -count=1 -timeout 0 -v -run '^TestCorruption$$' ./local/corruption

.PHONY: outbox-kill
outbox-kill: ## kill an outbox's application, relay and database with SIGKILL at KILLS random moments (SEED), and check every message
	STEPBACK_OUTBOX_SEED=$(SEED) STEPBACK_OUTBOX_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestKills$$' ./outbox

.PHONY: bench-outbox
bench-outbox: ## benchmark the outbox: SQLite, PostgreSQL, commit to delivery, and against River (needs PostgreSQL's binaries)
	$(GO) test -run '^$$' -bench InsertToSent -benchtime 100000x ./outbox/sqlitestore ./outbox/postgresstore
	$(GO) test -run '^$$' -bench CommitToDelivery -benchtime 5000x ./outbox/postgresstore
	cd bench/river && $(GO) test -run '^$$' -bench . -benchtime 50000x .

# -s -w omits debugger tables, more than a quarter of the size. Stack traces do not need them.
.PHONY: build
build: lambdas ## build the stepback command and the Lambda bootstraps for this machine, in bin/
	$(GO) build -trimpath -tags lambda.norpc -ldflags "-s -w -X main.released=$(shell internal/release/version.sh)" -o $(BIN)/stepback ./cmd/stepback

.PHONY: lambdas
lambdas: ## build the Lambda bootstraps for this machine, in bin/lambdas/NAME/bootstrap
	@for l in $(LAMBDAS); do \
		CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags lambda.norpc -ldflags "-s -w -buildid=" \
			-o $(BIN)/lambdas/$$l/bootstrap ./lambdas/$$l || exit 1; done

.PHONY: lambdas-arm64
lambdas-arm64: ## build the Lambda bootstraps for AWS (provided.al2023, arm64), in dist/lambdas/NAME/bootstrap
	@$(MAKE) --no-print-directory lambdas-for GOARCH=arm64 LAMBDA_OUT=dist/lambdas LAMBDA_TAGS=lambda.norpc,nosqlite

# The output depends only on the source, not on the machine. chmod overrides the umask, because Lambda runs the files as another user.
LAMBDA_TAGS ?= lambda.norpc
.PHONY: lambdas-for
lambdas-for:
	@for l in $(LAMBDAS); do \
		GOGC=400 GOOS=linux GOARCH=$(GOARCH) CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags $(LAMBDA_TAGS) -ldflags "-s -w -buildid=" \
			-o $(LAMBDA_OUT)/$$l/bootstrap ./lambdas/$$l && chmod 755 $(LAMBDA_OUT)/$$l/bootstrap || exit 1; done

cdk/node_modules: cdk/package-lock.json
	cd cdk && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

.PHONY: synth
synth: lambdas-arm64 cdk/node_modules ## write the CloudFormation templates of dev, stg and prod to OUT and check them; needs no AWS account
	@mkdir -p $(OUT)
	out=$$(cd $(OUT) && pwd) && cd cdk && $(CDK) synth --quiet --no-notices --output $$out -c synthOnly=yes $(CDKFLAGS) && ./check.sh $$out

.PHONY: bootstrap
bootstrap: lambdas-arm64 cdk/node_modules ## prepare the AWS account and region of the shell's credentials for deployments (once)
	cd cdk && $(CDK) bootstrap --no-notices $(CDKFLAGS)

.PHONY: deploy
deploy: lambdas-arm64 cdk/node_modules ## deploy the CSV import to AWS: make deploy ENV=dev uses the settings in cdk/environments/dev.json
	cd cdk && node guard.mjs $(ENV) $(if $(filter changes,$(DATABASE)),--database-changes)
	cd cdk && $(CDK) deploy stepback-$(ENV) --no-notices --outputs-file cdk.out/outputs-$(ENV).json $(CDKFLAGS)

.PHONY: destroy
destroy: lambdas-arm64 cdk/node_modules ## delete a deployed stack: make destroy ENV=dev; EMPTY=yes also deletes all objects in its buckets
	cd cdk && node guard.mjs $(ENV) --database-changes
	@if [ "$(EMPTY)" = yes ]; then cdk/empty.sh stepback-$(ENV); fi
	cd cdk && $(CDK) destroy stepback-$(ENV) --no-notices $(CDKFLAGS)

.PHONY: cdk-trial
cdk-trial: lambdas-arm64 cdk/node_modules ## test bootstrap, deploy, diff and destroy against moto_server, or against ENDPOINT=http://…
	@ENDPOINT=$(ENDPOINT) cdk/trial.sh

.PHONY: localstack-up
localstack-up: ## start LocalStack and PostgreSQL in Docker
	docker compose -f localstack/compose.yaml up --detach --wait

.PHONY: localstack-deploy
localstack-deploy: ## deploy the CSV import to LocalStack, or to ENDPOINT=http://…
	@ENDPOINT=$(ENDPOINT) CDKFLAGS="$(CDKFLAGS)" localstack/deploy.sh

.PHONY: localstack-run
localstack-run: ## import CSV=FILE, or the files of a folder as one, at LocalStack, or at ENDPOINT=http://…, and print the summary
	@ENDPOINT=$(ENDPOINT) localstack/run.sh $(CSV)

.PHONY: serve-trial
serve-trial: ## test the import at stepback serve: deploy twice with the AWS command line, and import a file each time
	@localstack/trial.sh

# The environment laptop: the unmodified CDK command line deploys to stepback serve at ENDPOINT.
LAPTOP_ENV = AWS_ENDPOINT_URL=$(or $(ENDPOINT),http://localhost:4566) AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test \
	AWS_SECRET_ACCESS_KEY=test CDK_HOME=$(CURDIR)/.stepback/cdk CDK_VALIDATION=false
LAPTOP_CDK = cd cdk && $(LAPTOP_ENV) $(CDK) --no-notices --app ../$(BIN)/cdk --output ../$(BIN)/cdk.out \
	-c laptop=$(if $(filter amd64,$(shell $(GO) env GOARCH)),x86_64,arm64) -c bootstraps=../dist/local

.PHONY: laptop
laptop: cdk/node_modules ## build what make laptop-deploy needs: the bootstraps for this machine and the CDK app
	@$(MAKE) --no-print-directory lambdas-for GOARCH=$(shell $(GO) env GOARCH) LAMBDA_OUT=dist/local
	cd cdk && $(GO) build -o ../$(BIN)/cdk .

.PHONY: laptop-deploy
laptop-deploy: laptop ## deploy the CSV import to stepback serve (ENDPOINT=http://…) with CDK; DATABASE=postgres://… is its database
	@test -n "$(DATABASE)" || { echo "DATABASE is not set; pass a PostgreSQL URL such as DATABASE=postgres://postgres@127.0.0.1:5432/import" >&2; exit 2; }
	@curl --silent --show-error --fail --output /dev/null -X POST -H 'X-Amz-Target: AmazonSSM.PutParameter' \
		-H 'Content-Type: application/x-amz-json-1.1' \
		-H 'Authorization: AWS4-HMAC-SHA256 Credential=test/20261122/us-east-1/ssm/aws4_request, SignedHeaders=host, Signature=0' \
		-d '{"Name":"/stepback/laptop/database","Type":"String","Value":"$(DATABASE)","Overwrite":true}' \
		$(or $(ENDPOINT),http://localhost:4566)/
	$(LAPTOP_CDK) bootstrap aws://000000000000/us-east-1
	$(LAPTOP_CDK) deploy stepback-laptop --require-approval never $(CDKFLAGS)

.PHONY: laptop-destroy
laptop-destroy: laptop ## delete it from stepback serve; EMPTY=yes also deletes all objects in its buckets (needs the AWS command line)
	@if [ "$(EMPTY)" = yes ]; then $(LAPTOP_ENV) cdk/empty.sh stepback-laptop; fi
	$(LAPTOP_CDK) destroy stepback-laptop --force $(CDKFLAGS)

.PHONY: laptop-trial
laptop-trial: laptop ## test the laptop environment from an empty directory: deploy, import with faults and a SIGKILL, alarm and mail, drift, destroy
	STEPBACK_LAPTOP=yes $(GO) test -count=1 -timeout 30m -v -run '^TestLaptop$$' ./cmd/stepback

.PHONY: design-trial
design-trial: laptop ## design the Retry block of the CSV import from its histories, run it through an outage, and compare the predictions
	STEPBACK_DESIGN=yes $(GO) test -count=1 -timeout 30m -v -run '^TestDesignedImport$$' ./cmd/stepback

.PHONY: stages-trial
stages-trial: laptop ## test dev, stg and prod on stepback serve, with their databases replaced: an upload, an outage, its page and its recovery in each
	STEPBACK_STAGES=yes $(GO) test -count=1 -timeout 60m -v -run '^TestStages$$' ./cmd/stepback

.PHONY: localstack-down
localstack-down: ## stop LocalStack and PostgreSQL and delete their data
	docker compose -f localstack/compose.yaml down --volumes

.PHONY: cdk-test
cdk-test: ## run the tests of the CDK app, a separate module
	cd cdk && $(GO) vet ./... && $(GO) test -timeout 30m ./...

.PHONY: bench
bench: ## measure speed and memory, as ratios to a floor measured in the same run
	$(GO) run ./bench

.PHONY: conformance
conformance: ## replay recordings of AWS Step Functions over HTTP and print every difference (STEPBACK_CONFORMANCE=DIR: other recordings)
	@set -o pipefail; $(GO) test -count=1 -run '^TestRecordings$$' -v ./local | \
		awk '/^=== / {case = $$3; next} /--- (PASS|SKIP)/ {next} \
			/_test\.go:[0-9]+: step/ {if (case != shown) print case; shown = case} {print}'

# FROM contains FORMAT.md, cases, jsonata and jsonpath.
FROM ?= ../shared/conformance
.PHONY: recordings
recordings: ## pack the recordings in FROM into internal/recordings/recordings.tar.zst
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='2026-11-22 00:00:00Z' -cf - -C $(FROM) \
		FORMAT.md cases jsonata jsonpath | zstd -19 --long=23 -q -f -o internal/recordings/recordings.tar.zst

.PHONY: clients
clients: ## call every operation of stepback serve with boto3, the AWS CLI, the SDKs for JavaScript and Go, and Terraform, and run durable functions on AWS's SDK (skips clients that are not installed)
	@local/services/clients/run.sh

.PHONY: bench-scale
bench-scale: ## measure how cost grows with rows, executions, timers, clients, states and payloads, and draw docs/scaling: MOST=1000000
	$(GO) run ./bench -scale docs/scaling -most $(or $(MOST),1000000)

.PHONY: bench-compare
bench-compare: ## compare Go benchmarks of a base commit with the working tree: BASE=main BENCH=REGEXP COMPARISONS=6
	bench/compare.sh $(BASE) '$(BENCH)' $(COMPARISONS)

.PHONY: simulate
simulate: ## compare random state machines with an oracle under crashes and failing disks, for DURATION, starting at SEED
	$(GO) test -count=1 -timeout 0 ./engine/simulation -run '^(TestCore|TestShell)$$' -v -first=$(SEED) -for=$(DURATION)

# make torture KILLS=8 DURATION=1m FLIPS=200 FUZZTIME=10s is short enough for daily use.
FLIPS ?= 5000
.PHONY: torture
torture: ## try to break the engine, starting at SEED: kill a server and run simulations for DURATION each, FLIPS flipped bytes, fuzzing, KILLS of an import
	@echo "SEED=$(SEED) DURATION=$(DURATION) KILLS=$(KILLS) FLIPS=$(FLIPS) FUZZTIME=$(FUZZTIME)"
	STEPBACK_TORTURE=$(DURATION) STEPBACK_SEED=$(SEED) $(GO) test -count=1 -timeout 0 -v -run '^(TestTorture|TestServeGoesOnWhenThereIsRoomAgain|TestServeOnADiskThatIsFull|TestADiskThatIsFull)$$' ./cmd/stepback
	STEPBACK_TORTURE=$(FLIPS) STEPBACK_SEED=$(SEED) $(GO) test -count=1 -timeout 0 -run '^TestNoFlippedByteIsSilent$$' ./engine/journal/pebble
	$(MAKE) --no-print-directory simulate SEED=$(SEED) DURATION=$(DURATION)
	$(MAKE) --no-print-directory fuzz FUZZ_PACKAGES=./local/services/stepfunctions FUZZTIME=$(FUZZTIME)
	$(MAKE) --no-print-directory crash SEED=$(SEED) KILLS=$(KILLS)

.PHONY: fuzz
fuzz: ## run every fuzz target of FUZZ_PACKAGES (default: all) for FUZZTIME each
	@$(GO) list $(or $(FUZZ_PACKAGES),./...) | while read -r p; do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

.PHONY: generate
generate: ## regenerate golden files and generated docs
	$(GO) generate ./...

# MODELS is an archive with a NAME.json for each service, or one that contains botocore's folder data, such as its wheel.
MODELS ?= ../shared/models/all-services.zip
.PHONY: models
models: ## regenerate aws/model/models.zip, the API models of all AWS services, from botocore's (MODELS=ARCHIVE)
	$(GO) run ./aws/model/generate -models $(MODELS) -out aws/model/models.zip

# The clients of the services that stepback serves. More can be named: CLIENTS="@aws-sdk/client-glue …".
CLIENTS ?= $(addprefix @aws-sdk/client-,api-gateway apigatewayv2 cloudcontrol cloudformation cloudwatch cloudwatch-logs dynamodb \
	dynamodb-streams ecr eventbridge iam kms lambda s3 scheduler secrets-manager sfn sns sqs ssm sts xray)
.PHONY: refresh-models
refresh-models: ## add what the newest clients of npm know to the API models; aws/model/additions.txt lists it
	rm -rf $(BIN)/clients && mkdir -p $(BIN)/clients
	@cd $(BIN)/clients && for c in $(CLIENTS); do \
		mkdir -p $$c && tar xzf "$$(npm pack --silent $$c)" --strip-components=1 -C $$c || exit 1; done
	cd $(BIN)/clients && node $(CURDIR)/aws/model/generate/schemas.mjs $(CLIENTS) > schemas.json
	$(GO) run ./aws/model/generate -add $(BIN)/clients/schemas.json -out aws/model/models.zip -report aws/model/additions.txt

# The version is the tag, or the commit if there is none.
.PHONY: release
release: ## build a release in dist/release: archives for six systems, SBOM, image, npm packages, wheels, install.sh (TARGETS="linux/amd64": fewer)
	@TARGETS="$(TARGETS)" URL="$(URL)" internal/release/build.sh $(VERSION)

.PHONY: vsix
vsix: ## build the extension for VS Code in dist/release, with npm
	@internal/release/vsix.sh $(VERSION)

.PHONY: site
site: ## build the documentation as a static site in dist/site, with npm
	@internal/site/build.sh

# make test runs these tests, too, and skips those whose program or site is missing.
.PHONY: channels
channels: site ## replay the sessions of editors and agents, and open the site and the extension's graph in Chromium (SCREENSHOTS=DIR: keep pictures)
	@mkdir -p $(or $(SCREENSHOTS),dist/screenshots)
	STEPBACK_SCREENSHOTS=$(abspath $(or $(SCREENSHOTS),dist/screenshots)) $(GO) test $(LEAN) -count=1 -timeout 30m -v \
		-run '^(TestLSP|TestNeovim|TestMCP.*|TestCompletionForZsh|TestExtensionGraph|TestPages|TestChecksOffline)$$' \
		./cmd/stepback ./cmd/stepback/lsp ./internal/site

.PHONY: release-trial
release-trial: ## install every channel of dist/release in an empty directory, and validate and serve from it
	@internal/release/trial.sh

.PHONY: release-reproduce
release-reproduce: ## build the commit twice in different directories and compare every byte (CACHES=own: without a shared build cache)
	@TARGETS="$(TARGETS)" internal/release/reproduce.sh

.PHONY: publish
publish: ## print the commands that publish dist/release; RUN=yes runs them, with your accounts
	@RUN=$(RUN) IMAGE=$(IMAGE) internal/release/publish.sh

.PHONY: publish-as
publish-as: ## change the module path to MODULE=github.com/you/stepback, here or in a copy (INTO=DIR)
	@internal/release/publish-as.sh "$(MODULE)" $(INTO)

.PHONY: lint
lint: $(LINT) ## run golangci-lint at its pinned version, and the check of plain words
	@$(GO) run ./internal/plainwords/check
	@GOGC=400 $(LINT) run --allow-parallel-runners ./...

$(LINT):
	GOGC=400 GOBIN=$(@D)/install $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(@D)/install/golangci-lint $@ && rmdir $(@D)/install

.PHONY: typecheck
typecheck: ## report type errors of all packages and tests on Windows and macOS
	@$(GO) run ./internal/typecheck -systems windows,darwin ./...

.PHONY: vuln
vuln: ## report known vulnerabilities in code that is called
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...

.PHONY: clean
clean: ## delete the output of build and run: bin, dist and .stepback
	rm -rf $(BIN) dist .stepback
