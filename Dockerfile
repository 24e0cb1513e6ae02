# Sojourn without a compiler: `make wheel`, then `docker build -t sojourn .`, then
# `docker run --rm -v "$PWD:/work" sojourn compare rrul --qdisc fq_codel --qdisc codel --out out`.
FROM python:3.13-slim-bookworm AS build
COPY out/wheels/ /wheels/
COPY scripts/constraints.txt /wheels/
RUN python -m venv /opt/sojourn \
    && /opt/sojourn/bin/pip install --no-cache-dir --constraint /wheels/constraints.txt /wheels/*_"$(uname -m)".whl

FROM python:3.13-slim-bookworm
COPY --from=build /opt/sojourn /opt/sojourn
ENV PATH=/opt/sojourn/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib
# Whoever has this number on the host owns the results; --user says another.
USER 1000
WORKDIR /work
ENTRYPOINT ["sojourn"]
CMD ["--help"]
