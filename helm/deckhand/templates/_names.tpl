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
{{- if and .Values.redis.url .Values.redis.secret.name }}
{{- fail "redis.url and redis.secret.name are both set: which one is it?" }}
{{- end }}
{{- end }}
