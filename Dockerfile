# One image for all five components: `docker run antiphon run coordinator`.

FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /opt/antiphon
COPY pyproject.toml constraints.txt README.md ./
COPY antiphon antiphon
COPY coordinator coordinator
COPY reasoning_engine reasoning_engine
COPY tool_dispatcher tool_dispatcher
COPY context_synthesizer context_synthesizer
COPY response_assembler response_assembler
COPY shared shared
RUN /opt/antiphon/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.11-slim
# PYTHONSAFEPATH: a foreign `shared` in the working directory is never imported in place of ours.
# PYTHONPATH: where tool modules are looked for; mount your own there.
ENV PATH=/opt/antiphon/bin:$PATH \
    PYTHONPATH=/srv/tools \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1
RUN useradd --system --uid 10001 --no-create-home antiphon
COPY --from=build /opt/antiphon /opt/antiphon
COPY examples /srv/tools/examples
WORKDIR /srv/tools
USER antiphon
ENTRYPOINT ["antiphon"]
CMD ["--help"]
