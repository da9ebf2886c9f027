{{/* The name of everything in the release. */}}
{{- define "deckhand.name" -}}
{{- if contains "deckhand" .Release.Name -}}
{{ .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-deckhand" .Release.Name | trunc 53 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "deckhand.selector" -}}
app.kubernetes.io/name: deckhand
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "deckhand.labels" -}}
{{ include "deckhand.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "deckhand.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "deckhand.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{/* "yes" with Redis, empty with SQLite. */}}
{{- define "deckhand.redis" -}}
{{- if or .Values.redis.url .Values.redis.secret.name -}}yes{{- end -}}
{{- end }}

{{/* The platforms' variables and the keys of Secrets that hold them. */}}
{{- define "deckhand.platforms" -}}
{{- $slack := dict "SLACK_BOT_TOKEN" .Values.slack.botToken "SLACK_APP_TOKEN" .Values.slack.appToken "SLACK_SIGNING_SECRET" .Values.slack.signingSecret }}
{{- range $variable, $ref := merge $slack (dict "DISCORD_TOKEN" .Values.discord.token "DISCORD_PUBLIC_KEY" .Values.discord.publicKey) }}
{{- if $ref.name }}
{{ $variable }}: {name: {{ $ref.name | quote }}, key: {{ $ref.key | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{/* deckhand.yaml: the values of config, and whether Discord's gateway is off. */}}
{{- define "deckhand.config" -}}
{{- $config := .Values.config }}
{{- if not .Values.discord.gateway }}
{{- $config = merge (dict "discord" (dict "gateway" false)) (deepCopy $config) }}
{{- end }}
{{- with .Values.sandbox.kubernetes }}
{{- if .enabled }}
{{- $cluster := dict "namespace" (include "deckhand.jobs" $) "runner" (include "deckhand.image" $) }}
{{- if .shareWorkspace }}
{{- $_ := set $cluster "claim" (include "deckhand.workspace" $) }}
{{- end }}
{{- if .runtimeClass }}
{{- $_ := set $cluster "runtime_class" .runtimeClass }}
{{- end }}
{{- with $.Values.image.pullSecrets }}
{{- $names := list }}
{{- range . }}{{- $names = append $names .name }}{{- end }}
{{- $_ := set $cluster "pull_secrets" $names }}
{{- end }}
{{- $config = merge (dict "sandbox" (dict "driver" "kubernetes" "image" .image "kubernetes" $cluster)) (deepCopy $config) }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* This program's image, the workspace's claim, and where sandboxes' Jobs are made. */}}
{{- define "deckhand.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "deckhand.workspace" -}}
{{ .Values.workspace.existingClaim | default (printf "%s-workspace" (include "deckhand.name" .)) }}
{{- end }}

{{- define "deckhand.jobs" -}}
{{ .Values.sandbox.kubernetes.namespace | default .Release.Namespace }}
{{- end }}

{{/* What would install and then not work is refused here. */}}
{{- define "deckhand.check" -}}
{{- if gt (int .Values.replicas) 1 }}
{{- if not (include "deckhand.redis" .) }}
{{- fail (printf "replicas is %d, but without Redis the store is SQLite, which has one worker: set redis.url or redis.secret.name, or replicas to 1" (int .Values.replicas)) }}
{{- end }}
{{- if ne .Values.workspace.accessMode "ReadWriteMany" }}
{{- fail (printf "replicas is %d, but the workspace is %s: all replicas work on the same files, so set workspace.accessMode to ReadWriteMany (and a storage class that has it), or replicas to 1" (int .Values.replicas) .Values.workspace.accessMode) }}
{{- end }}
{{- end }}
{{- if and .Values.sandbox.kubernetes.enabled .Values.sandbox.kubernetes.shareWorkspace }}
{{- if ne .Values.workspace.accessMode "ReadWriteMany" }}
{{- fail (printf "sandbox.kubernetes.shareWorkspace is on, but the workspace is %s: pods on other nodes could not mount it, so set workspace.accessMode to ReadWriteMany" .Values.workspace.accessMode) }}
{{- end }}
{{- if ne (include "deckhand.jobs" .) .Release.Namespace }}
{{- fail "sandbox.kubernetes.shareWorkspace needs the Jobs in the release's namespace: a claim is of one namespace" }}
{{- end }}
{{- end }}
{{- if and .Values.redis.url .Values.redis.secret.name }}
{{- fail "redis.url and redis.secret.name are both set: which one is it?" }}
{{- end }}
{{- if not (or .Values.secret .Values.env) }}
{{- $bot := .Values.slack.botToken.name }}
{{- $way := or .Values.slack.appToken.name .Values.slack.signingSecret.name }}
{{- if and $bot (not $way) }}
{{- fail "slack.botToken is set, but neither slack.appToken (Socket Mode) nor slack.signingSecret (HTTP): Slack could not reach Deckhand" }}
{{- end }}
{{- if and $way (not $bot) }}
{{- fail "slack.appToken or slack.signingSecret is set, but not slack.botToken: Slack would be off" }}
{{- end }}
{{- if and .Values.discord.publicKey.name (not .Values.discord.token.name) }}
{{- fail "discord.publicKey is set, but not discord.token: Discord would be off" }}
{{- end }}
{{- if and .Values.discord.token.name (not .Values.discord.gateway) (not .Values.discord.publicKey.name) }}
{{- fail "discord.gateway is off, and discord.publicKey is not set: Discord could not reach Deckhand" }}
{{- end }}
{{- end }}
{{- if .Values.ingress.enabled }}
{{- if not .Values.ingress.host }}
{{- fail "ingress.enabled without ingress.host: to which host do the platforms send?" }}
{{- end }}
{{- if not .Values.service.enabled }}
{{- fail "ingress.enabled needs service.enabled: an ingress leads to a service" }}
{{- end }}
{{- if not (or .Values.secret .Values.env .Values.slack.signingSecret.name .Values.discord.publicKey.name) }}
{{- fail "ingress.enabled without slack.signingSecret or discord.publicKey: there would be no /slack/… or /discord/… routes behind it" }}
{{- end }}
{{- end }}
{{- end }}
