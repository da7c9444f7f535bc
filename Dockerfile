# syntax=docker/dockerfile:1
# Both binaries, static, in an image with nothing but certificates and a shell for
# health checks.
FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o /out/ ./cmd/tractionctl ./cmd/traction-worker

FROM alpine:3.22
RUN apk add --no-cache ca-certificates && adduser -D -H -u 10001 traction
COPY --from=build /out/ /usr/local/bin/
COPY LICENSE /usr/share/licenses/traction/
USER 10001
EXPOSE 8077
ENTRYPOINT ["traction-worker"]
CMD ["run", "-c", "/etc/traction/traction.yaml"]
