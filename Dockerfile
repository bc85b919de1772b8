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
COPY examples examples
RUN /opt/antiphon/bin/pip install --no-cache-dir -c constraints.txt ".[openai,sql]"

FROM python:3.11-slim
# PYTHONSAFEPATH: nothing in the working directory is imported in place of a library.
ENV PATH=/opt/antiphon/bin:$PATH \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1
RUN useradd --system --uid 10001 --no-create-home antiphon
COPY --from=build /opt/antiphon /opt/antiphon
# Mount your own tool modules here: they are found in the working directory, after everything that is installed.
WORKDIR /srv/tools
USER antiphon
ENTRYPOINT ["antiphon"]
CMD ["--help"]
